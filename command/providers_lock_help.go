package command

const providersLockUsage = `Usage: tfdeps [global options] providers lock [options] [providers...]

  Adds to the lock file the hashes that installing takes on other platforms, so
  that a lock file made on one machine is good for all. By default that is done
  for every provider that the configuration requires; addresses say for which.
  Versions stay as they are locked. What isn't locked yet gets the newest version
  that is allowed.

  Packages come from the providers' own registries, whatever the CLI configuration
  says about installation. Each is read while it is downloaded, kept nowhere, and
  never downloaded again: what is in it is remembered by its checksum. None is
  downloaded where a registry tells what is in it.

  Modules needn't be installed, and no state or backend is looked at. Nothing but
  the lock file is written.

Options:

  -platform=OS_ARCH    A platform such as linux_amd64; may be given more than once.
                       The default is the one that this is. With "all", those
                       that the source of a provider lists for its version.

  -fs-mirror=DIR       Take packages from this directory, which has the layout of
                       a filesystem mirror, and from nowhere else.

  -net-mirror=URL      Take them from this network mirror, and from nowhere else.

  -from=config         Take them from where the CLI configuration says.

  -hashes=             Whom to believe about hashes of packages that aren't read:
    auto               the providers' own registries, if they tell the hashes of
                       packages for other platforms beside the checksums that
                       are signed, as registries for OpenTofu do: all of them
                       are recorded (this is the default);
    listed             the network mirrors, too, that -net-mirror or the CLI
                       configuration names;
    read               nobody.
                       What was read before counts more.

  -upgrade=ADDRESS[@VERSION]
                       Select this version, or the newest that is allowed, for a
                       provider, and leave the entries of others as they are. May
                       be given more than once.

  -dir=DIR             Work in this directory instead of the current one. May be
                       given more than once, and be a pattern such as envs/*, of
                       which the directories with a configuration count. A package
                       that several of them need is read once.

  -check               Write nothing. Exit with 1 if a lock file lacks a hash for
                       one of the platforms, and list those that it lacks. Which
                       platform an h1 is for can be known only from the package, so
                       packages that are new to this machine are read.

  -test-directory=DIR  Where test files are besides the working directory. The
                       default is "tests".

  -json                Print a JSON object, which is described below.

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect: -enable-plugin-cache, -var, -var-file.

The JSON object:

  format_version       "1.0". Keys may be added to it; the first number
                       changes when one is changed or removed.
  directories          each of them:
    dir, lock_file       where it is
    changed              whether hashes or versions have changed in the lock file
    complete             false if something failed or, with -check, is missing
    error                why nothing was done; absent if it was
    providers            those that were asked for:
      address, version
      previous_version     that was locked before; null: none
      version_constraints  those of the configuration
      hashes               all that the lock file has for the version now, or
                           should have
      platforms            each of them:
        platform, source
        h1, zh               the hashes of the package; zh is absent if not known
        origin               how they are known: "computed", "recalled" or "listed"
        authentication, key_id
        missing              those that the lock file lacked`

// Help is what "tfdeps providers lock -help" prints.
func (c *ProvidersLockCommand) Help() string { return providersLockUsage }
