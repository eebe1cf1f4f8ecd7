package command

const providersURLsUsage = `Usage: tfdeps [global options] providers urls [options]

  Shows where the packages are that an installation needs, and how to know them:
  for programs that fetch, scan or build with them. Versions are those of the lock
  file, else the newest that are allowed. No package is downloaded, and nothing is
  written; the signed lists of checksums are asked for, and verified.

  Packages come from where init would take them. Modules needn't be installed.

Options:

  -platform=OS_ARCH    A platform such as linux_amd64; may be given more than once.
                       The default is the one that this is. With "all", those
                       that the source of a provider lists for its version.

  -fs-mirror=DIR       Take packages from this directory, which has the layout of
                       a filesystem mirror, and from nowhere else.

  -net-mirror=URL      Take them from this network mirror, and from nowhere else.

  -from=origin         Take them from the providers' own registries, whatever the CLI
                       configuration says about installation. The default is
                       "config".

  -dir=DIR             Work in this directory instead of the current one. May be
                       given more than once, and be a pattern such as envs/*, of
                       which the directories with a configuration count.

  -sizes               Ask servers how large the packages are: for each, a request
                       for its first byte.

  -test-directory=DIR  Where test files are besides the working directory. The
                       default is "tests".

  -json                Print a JSON object, which is described below. URLs are whole
                       in it, because it takes all of one to download: the query
                       of a signed URL is a secret for as long as it holds, so keep
                       the output to yourself. User and password are never in it,
                       and without -json no query is.

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect: -var, -var-file.

The JSON object:

  format_version       "1.0". Keys may be added to it; the first number
                       changes when one is changed or removed.
  directories          each of them, in the order of -dir:
    dir, lock_file       where it is
    complete             false if something failed, which stderr tells
    providers            sorted by address:
      address, version
      version_constraints  those of the configuration
      locked               whether the version is the lock file's
      locked_hashes        all that the lock file has for the version
      signed_hashes        those of all platforms that a signature covers
      platforms            each of them, in the order of -platform:
        platform, source
        filename             by which mirrors know the archive
        url                  of the archive; null if it is on this machine
        path                 then: of the archive, or of the unpacked package
        sha256               of the archive, in hexadecimal digits; null: not known
        size                 of the archive, in bytes; null: not known
        hashes               what is known of this package: zh is sha256, and
                             some sources list an h1
        protocols            versions of the plugin protocol; null: not known
        authentication, key_id
                             who vouches for an archive with that checksum
        error                why there is nothing of this; absent if there is`

// Help is what "tfdeps providers urls -help" prints.
func (c *ProvidersURLsCommand) Help() string { return providersURLsUsage }
