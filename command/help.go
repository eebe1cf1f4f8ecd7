package command

// Usage is the help for the program as a whole.
const Usage = `Usage: tfdeps [global options] <command> [args]

Installs what a Terraform configuration depends on. It takes the place of
"terraform init"; the real terraform plan and apply go on from there.

Commands:
  init          Prepare your working directory for other commands
  version       Show the current version

Global options (use these before the command, if any):
  -chdir=DIR    Switch to a different working directory before executing the
                given command.
  -help         Show this help, or the help for a command.
  -version      An alias for the "version" command.

Environment:
  TF_DATA_DIR               where .terraform is kept
  TF_CLI_ARGS,              more arguments, for any command and for init
  TF_CLI_ARGS_init
  TF_CLI_CONFIG_FILE        the CLI configuration, in place of .terraformrc and
                            .terraform.d/*.tfrc of the home directory
  TF_TOKEN_<host>           the token for a registry or mirror, with _ for each
                            dot of the host and __ for each dash
  TFDEPS_MIRROR_FALLBACK    as the option -mirror-fallback of init
  TFDEPS_ARCHIVE_CREDENTIALS
                            same-host: send the token of a registry or mirror
                            for packages, too, if they are on that very host
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
  TFDEPS_TERRAFORM_VERSION  the version of Terraform whose work to do, instead
                            of that of the terraform on PATH
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
  are found, and those that "terraform get" has installed are used. Backends are
  not set up yet: a configuration with a backend or cloud block gets its
  providers and a warning.

Options:

  -upgrade             Select the newest versions that the constraints allow,
                       whatever the lock file says, and find modules anew.

  -get=false           Take the modules that are recorded; find none.

  -lockfile=readonly   Don't change the lock file. It is an error if it isn't
                       up to date, or lacks what "terraform plan" will want.

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

  -backend=false       Say nothing about the backend.
                       Alias: -cloud=false

  -json                Print one JSON object a line, for programs.

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect, as there is nothing that they could change
  here: -input, -lock, -lock-timeout, -compact-warnings, -var, -var-file, -target,
  -test-directory, -ignore-remote-version.

  Not supported yet, and refused: -backend-config, -force-copy, -from-module,
  -migrate-state, -reconfigure.

  The exit code is 0, or 1 if anything went wrong.`

const versionUsage = `Usage: tfdeps [global options] version [options]

  Shows the version of Terraform whose work is done here, the version of tfdeps,
  and the providers that the lock file selects.

Options:

  -json   Print a JSON object.`

// Help is what "tfdeps init -help" prints.
func (c *InitCommand) Help() string { return initUsage }

// Help is what "tfdeps version -help" prints.
func (c *VersionCommand) Help() string { return versionUsage }
