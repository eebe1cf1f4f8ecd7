package providerscmd

// What all descriptions of JSON objects begin and end with.
const (
	jsonHead = `The JSON object:

  format_version       "1.0". Keys may be added to it; the first number
                       changes when one is changed or removed.
`
	jsonTail = `  summary              counts, and bytes
  started_at, ended_at when the run began and ended
  diagnostics          its errors and warnings, with codes. If there is no
                       result, only this and format_version are there`
)

const treeAbout = `  Shows the tree of modules with the providers that each of them requires, and
  the providers that the state requires. Nothing is installed and no request is
  sent: modules have to be installed, by init or get.

  A state that a backend keeps isn't read; a warning says so.`

const treeMore = jsonHead + `  modules              each module, the root first:
    path                 its place: "" is the root, "module.a.module.b" a
                         called module, "test.tests.t.run" one that a test runs
    parent               the path of the module that calls it; null: the root
    key, source, version, dir
                         as in modules.json, the source without secrets
    call                 where it is called: file, line, version_constraints
    required_providers   what it requires itself, by address:
      address              "registry.terraform.io/hashicorp/aws"
      version_constraints  all of its constraints together; "": any version
      origins              each file and line, with the constraints there
  state                providers: addresses that the state requires; null if
                       it couldn't be read
  providers            each provider that is required anywhere:
    address, built_in
    version_constraints  those of all modules together
    locked               what the lock file selects: version,
                         version_constraints; null if it has no entry
` + jsonTail

const lockAbout = `  Adds the hashes for other platforms to the lock file, so that a lock file made
  on one machine works on all. It does so for every provider that the
  configuration requires, or for the providers whose addresses are given. Locked
  versions stay. Of other providers, the newest allowed version is locked.

  Packages come from the mirrors of -mirror and TFDEPS_MIRROR, if there are any,
  otherwise from the providers' own registries, whatever the CLI configuration
  says about installation. Each is read while it is downloaded, and isn't kept.
  Its hashes are remembered, so it isn't downloaded a second time. If a registry
  lists all hashes, nothing is downloaded.

  Modules needn't be installed, and no state or backend is read. Only the lock
  file is written.`

const lockMore = jsonHead + `  directories          each directory:
    dir, lock_file       where it is
    changed              whether hashes or versions have changed in the lock
                         file
    complete             false if something failed or, with -check, is missing
    error, code          why nothing was done; otherwise absent
    providers            each requested provider:
      address, version
      previous_version     that was locked before; null: none
      version_constraints  those of the configuration
      hashes               all that the lock file has for the version now, or
                           should have
      platforms            each platform:
        platform, source
        h1, zh               the hashes of the package; zh is absent if not
                             known
        origin               how they are known: "computed", "recalled" or
                             "listed"
        authentication, key_id
        missing              those that the lock file lacked
        bytes                of the archive that was read; null: none was
        started_at, ended_at when it was read; absent if it wasn't
` + jsonTail

const mirrorAbout = `  Fills a directory with the archives of the providers that the configuration
  requires. The directory is a filesystem mirror, and with any web server for
  static files also a network mirror, by the JSON files that are written beside
  the packages.

  The checksum lists that publishers have signed are kept beside the packages,
  with signatures and keys. When tfdeps installs from the mirror, it verifies
  packages as from the registry, and gets all hashes for the lock file, if
  HashiCorp's key has signed, or one that TFDEPS_TRUSTED_KEYS names. Terraform
  ignores these files.

  Packages in the directory stay, and aren't fetched again. It may be served
  meanwhile: the indexes list only packages that are there.

  A bucket of S3, of a service with its protocol, or of Google Cloud Storage
  gets the same tree. Several machines may fill one bucket at once. Credentials
  are those that the programs of AWS and Google find. A URL of S3 may have these
  parameters: region, profile, anonymous=true, and for other services
  endpoint=https://HOST and path-style=false.

  An OCI registry gets each provider in a repository of its own, and each
  version as a tag, as OpenTofu installs them. Credentials are those of
  "docker login". Nothing is ever removed from it: -prune can't be used.

  Packages come from the mirrors of -mirror, or without any from the providers'
  own registries, unless -from, -fs-mirror or -net-mirror says otherwise.
  Versions are those of the lock file, otherwise the newest allowed. Modules
  needn't be installed.`

const mirrorMore = jsonHead + `  directory            where the mirror is
  packages             each wanted package:
    address, version, platform, path
    present              whether it was there already
    source               which source had it; absent if it was there
    bytes                of the archive; null: not known
    authentication, key_id
                         who signed; absent if it was there
    started_at, ended_at when it was fetched; absent if it wasn't
    error, code          why it isn't there; absent if it is
  pruned, waiting      paths that were removed, and those that a later run
                       removes
` + jsonTail

const urlsAbout = `  Shows locations and checksums of the packages that an installation needs, for
  programs that fetch, scan or build with them. Versions are those of the lock
  file, otherwise the newest allowed. No package is downloaded, and nothing is
  written; the signed lists of checksums are fetched and verified.

  Packages come from where init would take them. Modules needn't be installed.`

const urlsMore = jsonHead + `  directories          each directory, in the order of -dir:
    dir, lock_file       where it is
    complete             false if something failed; stderr says what
    providers            sorted by address:
      address, version
      version_constraints  those of the configuration
      locked               whether the version is the lock file's
      locked_hashes        all that the lock file has for the version
      signed_hashes        those of all platforms that a signature covers
      platforms            each platform, in the order of -platform:
        platform, source
        filename             the archive's name in mirrors
        url                  of the archive; null if it is on this machine
        path                 then that of the archive or unpacked package
        sha256               of the archive, in hexadecimal digits; null: not
                             known
        size                 of the archive, in bytes; null: not known
        hashes               known hashes of this package: zh is sha256, and
                             some sources list an h1
        protocols            versions of the plugin protocol; null: not known
        authentication, key_id
                             who signed for an archive with that checksum
        error, code          why the rest is missing; otherwise absent
` + jsonTail

const verifyAbout = `  Reads and hashes every package in .terraform/providers completely, and says
  whether the lock file has the hash. Remembered hashes don't count, no request
  is sent, and nothing is written.

  These are differences:

  missing         the lock file selects a package that isn't there
  dangling link   a link in its place leads nowhere
  not locked      it is there, but the lock file doesn't select its version.
                  In .terraform/providers, where init -upgrade leaves old
                  versions, this is listed and doesn't count
  differs         the lock file doesn't have its hash

In these cases it is unknown:

  unproven        the lock file has only hashes of archives (zh), or none, and
                  an unpacked package needs an h1
  unreadable      the package can't be hashed`

const verifyMore = `  The exit code is 0 if no package differs, 2 if one does, and 1 if that is
  unknown.

` + jsonHead + `  trees                each place that was compared with a lock file:
    path, lock_file
    packages             each package:
      address, version, platform
      finding              "sound", "missing", "dangling_link", "not_locked",
                           "differs", "unproven" or "unreadable"
      path, packed         where it is; absent if it is missing
      h1, zh               what was computed; absent if impossible
      locked_version       what the lock file selects; null: it has no entry
      locked_hashes        what it records
      error, code          why it can't be hashed; absent if it can
` + jsonTail
