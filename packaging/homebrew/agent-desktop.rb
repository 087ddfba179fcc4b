class AgentDesktop < Formula
  desc "See and control desktop applications from an AI agent"
  homepage "{{homepage}}"
  version "{{version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{url-darwin-arm64}}"
      sha256 "{{sha256-darwin-arm64}}"
    end
    on_intel do
      url "{{url-darwin-x64}}"
      sha256 "{{sha256-darwin-x64}}"
    end
  end

  on_linux do
    on_arm do
      url "{{url-linux-arm64}}"
      sha256 "{{sha256-linux-arm64}}"
    end
    on_intel do
      url "{{url-linux-x64}}"
      sha256 "{{sha256-linux-x64}}"
    end
  end

  conflicts_with "agent-desktop-app", because: "both install an agent-desktop command"

  def install
    bin.install "agent-desktop"
    prefix.install "THIRD-PARTY-NOTICES.txt"
    man1.install "agent-desktop.1" if File.exist?("agent-desktop.1")
    return unless File.directory?("completions")

    bash_completion.install "completions/agent-desktop.bash" => "agent-desktop"
    zsh_completion.install "completions/_agent-desktop"
    fish_completion.install "completions/agent-desktop.fish"
  end

  test do
    assert_match "\"version\":\"#{version}\"", shell_output("#{bin}/agent-desktop version")
  end
end
