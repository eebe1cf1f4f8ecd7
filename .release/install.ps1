# Installs tfdeps on Windows: fetches the archive for this machine and SHA256SUMS of a release, verifies the signature of that list,
# compares the checksum, and puts the program into a directory. Nothing is installed if anything goes wrong.
#
#   install.ps1 [-Version v0.1.0] [-Directory DIRECTORY] [-Downloads URL] [-Key KEY]
#
# It needs minisign, or OpenSSL 3 such as that of Git for Windows.
param([string]$Version, [string]$Directory = "$env:LOCALAPPDATA\Programs\tfdeps", [string]$Downloads, [string]$Key)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# The program that makes a release fills these lines in.
$version = ''
$downloads = 'https://github.com/tfdeps/tfdeps/releases/download'
$key = ''

function Fail([string]$text) { throw "install.ps1: $text" }

# Test-Signature says whether the key has signed the list.
function Test-Signature([string]$list, [string]$key, [string]$temporary) {
  if (Get-Command minisign -ErrorAction SilentlyContinue) {
    & minisign -Vqm $list -P $key *> $null
    return $LASTEXITCODE -eq 0
  }
  $openssl = @('openssl', "$env:ProgramFiles\Git\mingw64\bin\openssl.exe") | Where-Object { Get-Command $_ -ErrorAction SilentlyContinue } | Select-Object -First 1
  if (-not $openssl -or (& $openssl version) -notmatch '^OpenSSL [3-9]') { Fail 'minisign or OpenSSL 3 is needed to verify the signature of SHA256SUMS: install one of them' }
  # A key of minisign is two letters, its ID in eight bytes, and a key of Ed25519, all in base64; so is a signature.
  $public = [Convert]::FromBase64String($key)
  $signature = [Convert]::FromBase64String((Get-Content "$list.minisig")[1])
  if ($public.Length -ne 42 -or $signature.Length -ne 74 -or [BitConverter]::ToString($public[0..9]) -ne [BitConverter]::ToString($signature[0..9])) { return $false }
  [IO.File]::WriteAllBytes("$temporary\key.der", [byte[]](0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00) + $public[10..41])
  [IO.File]::WriteAllBytes("$temporary\signature.raw", $signature[10..73])
  & $openssl pkeyutl -verify -pubin -inkey "$temporary\key.der" -keyform DER -rawin -in $list -sigfile "$temporary\signature.raw" *> $null
  return $LASTEXITCODE -eq 0
}

if ($PSBoundParameters.ContainsKey('Version')) { $version = 'v' + $PSBoundParameters.Version.TrimStart('v') }
if ($PSBoundParameters.ContainsKey('Downloads')) { $downloads = $PSBoundParameters.Downloads.TrimEnd('/') }
if ($PSBoundParameters.ContainsKey('Key')) { $key = $PSBoundParameters.Key }
if (-not $version) { Fail 'name the release with -Version, such as -Version v0.1.0' }
if (-not $key) { Fail 'this script has no key to verify a release with: take the script of a release, or name the key with -Key' }
$machine = @{ AMD64 = 'amd64'; ARM64 = 'arm64' }[$env:PROCESSOR_ARCHITECTURE]
if (-not $machine) { Fail "there are no releases for Windows on $env:PROCESSOR_ARCHITECTURE" }
$name = "tfdeps_$($version.TrimStart('v'))_windows_$machine"

$temporary = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory $temporary | Out-Null
try {
  foreach ($file in 'SHA256SUMS', 'SHA256SUMS.minisig', "$name.zip") {
    Invoke-WebRequest -UseBasicParsing "$downloads/$version/$file" -OutFile "$temporary\$file"
  }
  if (-not (Test-Signature "$temporary\SHA256SUMS" $key $temporary)) { Fail "$downloads/$version/SHA256SUMS is not signed by the key $key, so nothing is installed" }
  $line = Get-Content "$temporary\SHA256SUMS" | Where-Object { ($_ -split '  ')[1] -eq "$name.zip" }
  if (-not $line) { Fail "release $version has no $name.zip" }
  $actual = (Get-FileHash -Algorithm SHA256 "$temporary\$name.zip").Hash.ToLower()
  if ($actual -ne ($line -split '  ')[0]) { Fail "$name.zip is not what SHA256SUMS lists, so it is not installed: the checksum is $actual" }
  Expand-Archive "$temporary\$name.zip" $temporary
  New-Item -ItemType Directory -Force $Directory | Out-Null
  try {
    Copy-Item "$temporary\$name\tfdeps.exe" "$Directory\.tfdeps-new.exe"
    Move-Item -Force "$Directory\.tfdeps-new.exe" "$Directory\tfdeps.exe"
  } finally { # it is still there if a tfdeps that runs can't be replaced
    Remove-Item -Force -ErrorAction SilentlyContinue "$Directory\.tfdeps-new.exe"
  }
  Write-Output "tfdeps $version is installed as $Directory\tfdeps.exe"
} finally {
  Remove-Item -Recurse -Force $temporary
}
