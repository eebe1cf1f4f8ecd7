package command

// Usage is the help for the program as a whole.
const Usage = `Usage: tfdeps [global options] <command> [args]

Installs what a Terraform or OpenTofu configuration depends on. It takes the
place of "terraform init" or "tofu init"; the real plan and apply go on from
there. The work of tofu is done if tfdeps is called by a link named tofu, by
init with -with=tofu, and with TFDEPS_PRODUCT=tofu.

Commands:
  cache         Look after the cache that working directories share
  get           Install or upgrade remote modules
  hash          Show the hashes of provider packages
  init          Prepare your working directory for other commands
  providers     Show the providers required for this configuration
  providers lock
                Make the lock file good for other platforms, too
  providers mirror
                Fill a directory with packages for others to install from
  providers urls
                Show where the packages of required providers are
  providers verify
                Read installed packages and compare them with the lock file
  vendor        Put providers and modules into the repository
  version       Show the current version

Global options (use these before the command, if any):
  -chdir=DIR    Switch to a different working directory before executing the
                given command.
  -help         Show this help, or the help for a command.
  -passthrough  Leave commands that are not listed here to the real program. So
                does calling tfdeps by a link named terraform or tofu, with or
                without a version behind it.
  -version      An alias for the "version" command.

Environment:
  TF_DATA_DIR               where .terraform is kept
  TF_CLI_ARGS,              more arguments, for any command and for init;
  TF_CLI_ARGS_init          likewise TF_CLI_ARGS_get and so on
  TFDEPS_CLI_ARGS,          the same, after those, for options that the real
  TFDEPS_CLI_ARGS_init      program would refuse
  TF_CLI_CONFIG_FILE        the CLI configuration, in place of .terraformrc, or
                            .tofurc if there is one and the work is that of tofu, and
                            .terraform.d/*.tfrc of the home directory
  TF_TOKEN_<host>           the token for a registry or mirror, with _ for each
                            dot of the host and __ for each dash
  TFDEPS_ARCHIVE_CREDENTIALS
                            same-host: send the token of a registry or mirror
                            for packages, too, if they are on that very host
  TFDEPS_TRUSTED_KEYS       files with public keys, separated as in PATH, whose
                            signatures count in mirrors: FILE, or PATTERN=FILE
                            for providers such as example.com/acme/*
  NETRC                     the file with logins for packages, in place of
                            .netrc of the home directory
  TF_REATTACH_PROVIDERS     providers that run already and aren't installed
  TF_WORKSPACE              the workspace whose local state is looked at
  TF_IN_AUTOMATION          leave out advice on what to do next
  TF_REGISTRY_DISCOVERY_RETRY,
  TF_REGISTRY_CLIENT_TIMEOUT
                            how often a request is repeated (1), and how many
                            seconds an answer may take to begin (10)
  TF_APPEND_USER_AGENT      added to the user agent of requests
  TF_LOG                    debug or trace: tell every request on stderr
  TF_PLUGIN_CACHE_DIR       the cache of providers that directories share, with
                            links to it from each of them
  TFDEPS_CACHE_DIR          where the cache is if no such directory is named
  TFDEPS_CHECK, TFDEPS_OFFLINE, TFDEPS_FROZEN, TFDEPS_LOCK_MODULES,
  TFDEPS_NO_SHARED_CACHE, TFDEPS_VERIFY, TFDEPS_PASSTHROUGH
                            1 or true, 0 or false: as the options of these
                            names, which count more
  TFDEPS_HASHES, TFDEPS_LINK, TFDEPS_MIRROR_FALLBACK, TFDEPS_PLATFORM,
  TFDEPS_PROGRESS, TFDEPS_STATE, TFDEPS_WITH
                            likewise, with the option's value
  TFDEPS_PRODUCT            terraform or tofu: whose work to do, unless -with or
                            the name that tfdeps is called by says so; its old
                            name TFDEPS_ENGINE counts, too
  TFDEPS_TERRAFORM_PATH,    the real program, instead of the next one on PATH
  TFDEPS_TOFU_PATH
  TFDEPS_TERRAFORM_VERSION, the version of Terraform or OpenTofu whose work to
  TFDEPS_TOFU_VERSION       do, instead of that of the program on PATH
  HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR, NO_COLOR
                            as everywhere`

const initUsage = `Usage: tfdeps [global options] init [options]

  Prepares the working directory for "terraform plan" and "terraform apply":
  finds out which modules and providers the configuration and its state
  require, records where the modules are, selects versions of the providers,
  downloads, verifies and unpacks the packages, and records the
  selections in .terraform.lock.hcl.

  It may be run at any time, as often as you like. What is installed and
  locked already costs no network; configuration and state are never changed.

  Packages come from where the provider_installation block of the CLI
  configuration says. Without one, they come from the directories that are
  mirrors by default, terraform.d/plugins first, if those have any of the
  provider, else from the provider's origin registry.

  Modules are not fetched yet: those below the working directory or beside it
  are found, and those that "terraform get" has installed are used.
  The backend is recorded for "terraform plan", and not asked for anything: moving
  state is left to the real tool.

Options:

  -upgrade             Select the newest versions that the constraints allow,
                       whatever the lock file says, and find modules anew.

  -get=false           Take the modules that are recorded; find none.

  -lock-modules        Record the modules that are fetched in
                       .tfdeps.modules.lock.hcl: source, version or commit, and
                       a hash of the files. Once there is such a file, it is
                       kept: a module with another content is refused unless
                       -upgrade is given.
  -lockfile=readonly   Don't change the lock file. It is an error if it isn't
                       up to date, or lacks what "terraform plan" will want.

  -offline             Send no request. What is locked or constrained has to be
                       in this directory, in the shared cache, in a mirror on
                       this machine or in the store of modules; what isn't is
                       told, all at once. A version that no lock file says is
                       chosen among those, with a warning.

  -frozen              -lockfile=readonly and -offline together, as in cargo.
                       (In uv, --frozen doesn't even compare the lock file.)

  -check               Do nothing, and say whether there is anything to do: the
                       exit code is 0 if not, 2 if so, 1 if that can't be told.
                       No request is sent, and nothing is written. The reasons
                       are listed; their codes are explained below.

  -plugin-dir=DIR      Install from this directory, which has the layout of a
                       filesystem mirror, and from nowhere else. May be given
                       more than once. With an empty value, forget what was
                       recorded of it.

  -mirror-fallback=    What to do where sources come one after the other:
    stop               a source that fails ends the search (this is the
                       default); one that lacks a package doesn't;
    next               one that fails is passed over, with a warning;
    exclusive          as stop, and no registry is asked for a provider for
                       which there is any mirror.

  -no-shared-cache     Fetch packages of providers for this directory alone, and
                       put none into the cache that directories share.

  -link=               How packages get from that cache into this directory:
    auto               from a directory that the CLI configuration or the
                       variable TF_PLUGIN_CACHE_DIR names, by a link to it;
                       from our own by the first of these that is possible:
    clone              files that share their blocks until one is changed;
    hardlink           the same files under further names;
    copy               copies.
    symlink            a link to the package in the cache.

  -platform=OS_ARCH    Make the lock file good for this platform, too, such as
                       linux_amd64, as "providers lock" does: its packages are
                       read while they are downloaded, and kept nowhere. May be
                       given more than once, or with commas; with "all" for
                       every platform that the source of a provider lists. What
                       is installed is for the platform that this is.

  -hashes=             Whom to believe about hashes of packages that aren't read:
    auto               the providers' own registries, if they tell the hashes of
                       packages for other platforms beside the checksums that
                       are signed, as registries for OpenTofu do: all of them
                       are recorded (this is the default);
    listed             network mirrors, too, about the platforms of -platform;
    read               nobody.

  -verify              Read and hash all packages, however sure it is that they
                       haven't changed.

  -backend=false       Leave the record of the backend as it is.
                       Alias: -cloud=false

  -backend-config=     A file with arguments for the backend, or one argument as
                       NAME=VALUE. May be given more than once; a single empty
                       value says that there are none.

  -reconfigure         Record the backend as it is configured now, whatever was
                       recorded before. State stays where it is.

  -with=PROGRAM        Have "terraform" or "tofu" initialize the backend when
                       modules and providers are in place. It may then be asked
                       to move state, with -migrate-state or -force-copy, and it
                       tells which providers the state needs.

  -state=FILE          Find out from this state, instead of that of the current
                       workspace, which providers existing objects need; with
                       "-" from standard input, as in
                       terraform state pull | tfdeps init -state=-

  -progress=           How downloads of 1 MiB and more are shown, on stderr:
    auto               in a terminal as with tty, else as with plain (this is
                       the default);
    tty                a bar for each that runs;
    plain              a line at its beginning and at its end, and every ten
                       seconds one for all that run;
    none               not at all; nor is there the last line, which says how
                       many providers came from where, and how long it took.

  -json                Print one JSON object a line, for programs. A download
                       that lasts has an object a second, of the type
                       "download_progress": provider, version, done and total
                       in bytes; no total if it isn't known. There are none
                       with -progress=none.

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect, as there is nothing that they could change
  here: -input, -lock, -lock-timeout, -compact-warnings, -var, -var-file, -target,
  -test-directory, -ignore-remote-version.

  Left to the program that -with names, and refused without it: -force-copy,
  -migrate-state.

  The exit code is 0, or 1 if anything went wrong. With -check there is 2, too.`

const versionUsage = `Usage: tfdeps [global options] version [options]

  Shows the version of Terraform whose work is done here, the version of tfdeps,
  and the providers that the lock file selects.

Options:

  -json   Print a JSON object.`

const getUsage = `Usage: tfdeps [global options] get [options]

  Finds the modules of the configuration, fetches those that aren't local, and
  records where they are. "tfdeps init" does so, too; this command does nothing
  else.

  A module that is recorded, and is what its call asks for, stays as it is.

Options:

  -update              Fetch all modules anew, in the newest versions that
                       their calls allow.

  -offline             Send no request. What isn't there and not in the store of
                       modules either is an error.

  -test-directory=DIR  Where test files are besides the working directory, as
                       they may call modules. The default is "tests".

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect: -var, -var-file.`

// Help is what "tfdeps get -help" prints.
func (c *GetCommand) Help() string { return getUsage }

// Help is what "tfdeps init -help" prints.
func (c *InitCommand) Help() string { return initUsage + checkUsage }

// Help is what "tfdeps version -help" prints.
func (c *VersionCommand) Help() string { return versionUsage }
