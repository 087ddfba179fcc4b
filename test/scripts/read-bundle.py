"""Checks the signature of an app bundle as macOS does, written from Apple's headers and not from scripts/sign.ts.

Prints what it found as JSON; "wrong" lists every fault.
"""

import hashlib
import json
import os
import plistlib
import re
import struct
import sys

contents = os.path.join(sys.argv[1], "Contents")
wrong = []


def read(path):
    with open(os.path.join(contents, path), "rb") as file:
        return file.read()


def expect(truth, fault):
    if not truth:
        wrong.append(fault)


info = plistlib.loads(read("Info.plist"))
executable = "MacOS/" + info["CFBundleExecutable"]
code = read(executable)

# <mach-o/loader.h>
magic, cpu, _, kind, count, _, _, _ = struct.unpack_from("<8I", code)
expect(magic == 0xFEEDFACF and kind == 2, "not a 64-bit executable")
at, start, size = 32, None, None
for _ in range(count):
    command, length = struct.unpack_from("<2I", code, at)
    if command == 0x1D:  # LC_CODE_SIGNATURE
        start, size = struct.unpack_from("<2I", code, at + 8)
    at += length

# <kern/cs_blobs.h>: an index of blobs by slot.
signature = code[start : start + size]
magic, length, count = struct.unpack_from(">3I", signature)
expect(magic == 0xFADE0CC0 and start + size == len(code), "the signature is not at the end")
blobs = {}
for index in range(count):
    slot, offset = struct.unpack_from(">2I", signature, 12 + 8 * index)
    blobs[slot] = signature[offset : offset + struct.unpack_from(">I", signature, offset + 4)[0]]

directory = blobs[0]
(magic, length, version, flags, hashes, ident, specials, pages, limit) = struct.unpack_from(">9I", directory)
hash_size, hash_type, _, page_bits = struct.unpack_from("4B", directory, 36)
expect(magic == 0xFADE0C02 and length == len(directory), "not a code directory")
expect((hash_size, hash_type, page_bits) == (32, 2, 12), "not SHA-256 of 4096 bytes")
expect(limit == start and pages == -(-limit // 4096), "pages are missing")
identifier = directory[ident : directory.index(0, ident)].decode()


def slot(number):
    return directory[hashes + number * 32 : hashes + number * 32 + 32]


def sha256(data):
    return hashlib.sha256(data).digest()


for page in range(pages):
    part = code[page * 4096 : min((page + 1) * 4096, limit)]
    expect(slot(page) == sha256(part), f"page {page}")
expect(specials == 3, f"{specials} special slots")
expect(slot(-1) == sha256(read("Info.plist")), "Info.plist")
expect(slot(-2) == sha256(blobs[2]), "requirements")
expect(slot(-3) == sha256(read("_CodeSignature/CodeResources")), "CodeResources")
expect(identifier == info["CFBundleIdentifier"], f"the identifier is {identifier}")

# A set of one designated requirement (3), an expression (1) with one operator: the identifier is (2) this string.
requirement = blobs[2]
expect(
    struct.unpack_from(">5I", requirement) == (0xFADE0C01, len(requirement), 1, 3, 20)
    and struct.unpack_from(">4I", requirement, 20) == (0xFADE0C00, len(requirement) - 20, 1, 2),
    "not one designated requirement",
)
(letters,) = struct.unpack_from(">I", requirement, 36)
required = requirement[40 : 40 + letters].decode()
expect(not any(requirement[40 + letters :]), "the requirement's padding")
expect(required == identifier, f"the requirement is {required}")

# Every file is sealed unless a rule leaves it out; of several rules the heaviest decides.
resources = plistlib.loads(read("_CodeSignature/CodeResources"))


def rule(path):
    best = (0, None)
    for pattern, value in resources["rules2"].items():
        described = value if isinstance(value, dict) else {}
        weight = described.get("weight", 1)
        if re.search(pattern, path) and weight > best[0]:
            best = (weight, described)
    return best[1]


sealed = []
for folder, _, names in os.walk(contents):
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), contents)
        if path == executable or path.startswith("_CodeSignature/") or (rule(path) or {}).get("omit"):
            continue
        sealed.append(path)
        expect(not rule(path).get("nested"), f"{path} should be signed code")
        expect(resources["files2"].get(path, {}).get("hash2") == sha256(read(path)), f"{path} (files2)")
        expect(resources["files"].get(path) == hashlib.sha1(read(path)).digest(), f"{path} (files)")
for path in set(resources["files"]) | set(resources["files2"]):
    expect(path in sealed, f"{path} is missing")
expect(os.access(os.path.join(contents, executable), os.X_OK), "the executable cannot be run")

print(
    json.dumps(
        {
            "wrong": wrong,
            "identifier": identifier,
            "flags": flags,
            "cpu": {0x0100000C: "arm64", 0x01000007: "x86_64"}.get(cpu),
            "pages": pages,
            "sealed": sorted(sealed),
            "info": info,
        }
    )
)
