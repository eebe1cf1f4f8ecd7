#!/bin/sh
# Installs tfdeps: fetches the archive for this machine and SHA256SUMS of a release, verifies the signature of that list, compares the
# checksum, and puts the program into a directory. Nothing is installed if anything goes wrong. Usage:
#
#   install.sh [-v VERSION] [-d DIRECTORY] [-u URL] [-k KEY]
#
#   -v VERSION    which release, such as v0.1.0; by default the one that this script came with
#   -d DIRECTORY  where the program goes; by default /usr/local/bin if that can be written to, otherwise ~/.local/bin
#   -u URL        where the releases are, each in a directory named by its version
#   -k KEY        the public key of minisign that has signed them; by default that of the project
#
# It needs curl or wget, minisign or OpenSSL 3, one of sha256sum, shasum and openssl, and tar, or unzip on Windows.
set -eu

# The program that makes a release fills these lines in.
version=
key=
downloads=https://github.com/tfdeps/tfdeps/releases/download

directory=
temporary=
partial=

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

usage() {
  echo "Usage: install.sh [-v VERSION] [-d DIRECTORY] [-u URL] [-k KEY]" >&2
  exit "$1"
}

have() { command -v "$1" >/dev/null 2>&1; }

clean_up() {
  [ -z "$temporary" ] || rm -rf "$temporary"
  [ -z "$partial" ] || rm -f "$partial"
}

# fetch URL FILE
fetch() {
  # The checksums are worth what the connection is: no redirect leads from https to http. wget follows one, and what it brought isn't used then.
  case $1 in
    https://*) redirects='=https' refused='^ *location: *http:' ;;
    *) redirects='=http,https' refused='no such header' ;;
  esac
  if have curl; then
    curl --fail --silent --show-error --location --proto-redir "$redirects" --retry 2 --output "$2" "$1"
  elif have wget; then
    if ! wget -q -S -O "$2" "$1" 2>"$temporary/headers"; then
      cat "$temporary/headers" >&2
      false
    else
      ! tr -d '\r' <"$temporary/headers" | grep -qi "$refused"
    fi
  else
    fail "curl or wget is needed to download $1"
  fi || fail "$1 can't be downloaded"
}

# checksum FILE prints the SHA-256 of a file in hexadecimal digits.
checksum() {
  if have sha256sum; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif have shasum; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  elif have openssl; then
    openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
  else
    fail "sha256sum, shasum or openssl is needed to verify what was downloaded"
  fi
}

# verify LIST compares the list's signature with the key.
verify() {
  if have minisign; then
    minisign -Vqm "$1" -P "$key" >/dev/null 2>&1
    return
  fi
  # A key of minisign is two letters, its ID in eight bytes, and a key of Ed25519, all in base64; so is a signature.
  printf '%s\n' "$key" | openssl base64 -d -A >"$temporary/key"
  sed -n 2p "$1.minisig" | tr -d '\r\n' | openssl base64 -d -A >"$temporary/signature"
  [ "$(part "$temporary/key" 1 10)" = "$(part "$temporary/signature" 1 10)" ] || return 1
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 "$temporary/key"; } >"$temporary/key.der"
  tail -c 64 "$temporary/signature" >"$temporary/signature.raw"
  openssl pkeyutl -verify -pubin -inkey "$temporary/key.der" -keyform DER -rawin -in "$1" -sigfile "$temporary/signature.raw" >/dev/null 2>&1
}

# part FILE FROM COUNT prints bytes of a file in hexadecimal digits.
part() { tail -c "+$2" "$1" | head -c "$3" | od -An -tx1 | tr -d ' \n'; }

# can_verify says whether this machine has what verifying takes.
can_verify() { have minisign || { have openssl && openssl version | grep -q '^OpenSSL [3-9]'; }; }

# platform prints the operating system and the architecture as the names of archives have them.
platform() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    MINGW* | MSYS* | CYGWIN*) system=windows ;;
    *) fail "there are no releases for $system. With Go: go install github.com/tfdeps/tfdeps@$version" ;;
  esac
  case $machine in
    x86_64 | amd64) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there are no releases for $system on $machine. With Go: go install github.com/tfdeps/tfdeps@$version" ;;
  esac
  # A shell that runs translated on an ARM Mac takes it for an Intel one.
  if [ "$system" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
    machine=arm64
  fi
  echo "${system}_$machine"
}

# destination prints the directory for the program if none was given.
destination() {
  if [ -d /usr/local/bin ] && [ -w /usr/local/bin ]; then
    echo /usr/local/bin
  elif [ -n "${HOME-}" ]; then
    echo "$HOME/.local/bin"
  else
    fail "there is no home directory: choose one for the program with -d"
  fi
}

install_release() {
  platform=$(platform)
  program=tfdeps
  name="tfdeps_${version#v}_$platform"
  archive=$name.tar.gz
  case $platform in
    windows_*)
      program=tfdeps.exe
      archive=$name.zip
      ;;
  esac

  temporary=$(mktemp -d)
  [ -n "$key" ] || fail "this script has no key to verify a release with: take the script of a release, or name the key with -k"
  can_verify || fail "minisign or OpenSSL 3 is needed to verify the signature of SHA256SUMS: install one of them"
  fetch "$downloads/$version/SHA256SUMS" "$temporary/SHA256SUMS"
  fetch "$downloads/$version/SHA256SUMS.minisig" "$temporary/SHA256SUMS.minisig"
  verify "$temporary/SHA256SUMS" || fail "$downloads/$version/SHA256SUMS is not signed by the key $key, so nothing is installed"
  expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$temporary/SHA256SUMS")
  [ -n "$expected" ] || fail "release $version has no $archive"
  fetch "$downloads/$version/$archive" "$temporary/$archive"
  actual=$(checksum "$temporary/$archive")
  [ "$actual" = "$expected" ] || fail "$downloads/$version/$archive is not what SHA256SUMS lists, so it is not installed:
  the checksum is $actual
  instead of      $expected"
  case $archive in
    *.zip) unzip -q "$temporary/$archive" -d "$temporary" ;;
    *) tar -xzf "$temporary/$archive" -C "$temporary" ;;
  esac

  # A rename, so that a program that runs isn't written to and no half of one is ever there.
  mkdir -p "$directory"
  partial=$(mktemp "$directory/.tfdeps-XXXXXX") # no name that another user could have put a link at
  cp "$temporary/$name/$program" "$partial"
  chmod 755 "$partial"
  mv -f "$partial" "$directory/$program"
  echo "tfdeps $version is installed as $directory/$program"
  case ":$PATH:" in
    *":$directory:"*) ;;
    *) echo "$directory is not on PATH. Add it: export PATH=\"$directory:\$PATH\"" ;;
  esac
}

# All of it is in functions that this one calls at the end of the file: a script that arrives in part does nothing.
main() {
  while getopts v:d:u:k:h option; do
    case $option in
      v) version=v${OPTARG#v} ;;
      d) directory=$OPTARG ;;
      u) downloads=${OPTARG%/} ;;
      k) key=$OPTARG ;;
      h) usage 0 ;;
      *) usage 1 ;;
    esac
  done
  shift $((OPTIND - 1))
  [ $# -eq 0 ] || usage 1
  [ -n "$version" ] || fail "name the release with -v, such as -v v0.1.0"
  [ -n "$directory" ] || directory=$(destination)
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  install_release
}

main "$@"
