# A formula and not a cask: Homebrew quarantines the apps of casks, and macOS does not open a quarantined app without
# notarisation. Downloads of formulas are not quarantined, so the ad-hoc signature is enough. With a Developer ID and
# notarisation this becomes a cask.
class AgentDesktopApp < Formula
  desc "See and control desktop applications from an AI agent, as an app bundle"
  homepage "{{homepage}}"
  version "{{version}}"
  license "Apache-2.0"

  depends_on :macos

  on_arm do
    url "{{url-darwin-arm64}}"
    sha256 "{{sha256-darwin-arm64}}"
  end
  on_intel do
    url "{{url-darwin-x64}}"
    sha256 "{{sha256-darwin-x64}}"
  end

  conflicts_with "agent-desktop", because: "both install an agent-desktop command"

  def install
    # Homebrew enters the only directory of an archive.
    (prefix/"Agent Desktop.app").install "Contents"
    bin.install_symlink prefix/"Agent Desktop.app/Contents/MacOS/agent-desktop"
  end

  def caveats
    <<~EOS
      Grant the permissions to Agent Desktop itself, not to your terminal:
        agent-desktop permissions --request
      To add it by hand in System Settings, choose:
        #{opt_prefix}/Agent Desktop.app
    EOS
  end

  test do
    assert_match "\"version\":\"#{version}\"", shell_output("#{bin}/agent-desktop version")
  end
end
