package command

const providersMirrorUsage = `Usage: tfdeps [global options] providers mirror [options] <target-dir>

  Fills a directory with the packages of the providers that the configuration
  requires, as they are. It can be used at once as a filesystem mirror; and any
  web server of static files that has it is a network mirror, by the JSON files
  that are written beside the packages.

  The lists of checksums that publishers have signed are kept beside the packages,
  with the signatures and the keys. Whoever installs from the mirror by tfdeps gets
  packages verified as from the registry, and all hashes for the lock file, if a
  key of HashiCorp's or of a partner's has signed, or one that TFDEPS_TRUSTED_KEYS
  names. The real program ignores these files.

  What is in the directory stays, and isn't fetched again. It may be served
  meanwhile: nothing is listed that isn't there.

  Packages come from the providers' own registries, whatever the CLI configuration
  says about installation. Versions are those of the lock file, else the newest
  that are allowed. Modules needn't be installed.

Options:

  -platform=OS_ARCH    A platform such as linux_amd64; may be given more than once.
                       The default is the one that this is. With "all", those
                       that the source of a provider lists for its version.

  -lock-file=false     Don't look at lock files.

  -dir=DIR             Take the configuration in this directory instead of the
                       current one. May be given more than once, and be a pattern
                       such as envs/*, of which the directories with a
                       configuration count.

  -locked=PATH         Take what this lock file selects, or those in and below
                       this directory; no configuration is read unless -dir says
                       so. May be given more than once.

  -versions=all        Take all versions that the configuration allows.

  -versions=ADDRESS@VERSION,...
                       Take these; no configuration is read unless -dir says so.
                       May be given more than once.

  -fs-mirror=DIR       Take packages from this directory, which has the layout of
                       a filesystem mirror, and from nowhere else.

  -net-mirror=URL      Take them from this network mirror, and from nowhere else.

  -from=config         Take them from where the CLI configuration says.

  -prune               Remove all other packages from the mirror, if everything
                       succeeded. It takes two runs: the first one takes them out
                       of the indexes and tells of them; whoever has read an index
                       before still finds them. A run with -prune an hour later,
                       or any time after that, removes them. A run without -prune
                       in between lists them again.

  -prune-grace=1h      How long it has to be since the indexes were changed, such
                       as 90m or 24h. With 0, one run does all; whoever read an
                       index right before may ask for a package in vain.

  -test-directory=DIR  Where test files are besides the working directory. The
                       default is "tests".

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect: -var, -var-file.`

// Help is what "tfdeps providers mirror -help" prints.
func (c *ProvidersMirrorCommand) Help() string { return providersMirrorUsage }
