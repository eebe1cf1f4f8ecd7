package initcmd

import "github.com/tfdeps/tfdeps/command/cli"

func help() cli.Help {
	o := defaults()
	return cli.Help{Usage: []string{"init [options]"}, About: about, Flags: o.flags(), More: more}
}

const about = `  Prepares the working directory for "terraform plan" and "terraform apply":
  finds out which modules and providers the configuration and its state
  require, records where the modules are, selects versions of the providers,
  downloads, verifies and unpacks the packages, and records the
  selections in .terraform.lock.hcl.

  It may be run at any time, as often as you like. What is installed and
  locked already costs no network; configuration and state are never changed.

  Packages come from the mirrors of -mirror and TFDEPS_MIRROR, if there are any,
  and otherwise from where the provider_installation block of the CLI
  configuration says. Without one, they come from terraform.d/plugins and the
  other directories that are mirrors by default, if these have the provider,
  otherwise from the provider's registry.

  Modules that aren't local are fetched, unless they are recorded already. The
  backend is recorded for "terraform plan", and no request is sent to it: moving
  state is left to Terraform.`

const more = `  The exit code is 0, or 1 if anything went wrong. With -check and -plan there
  is 2, too.

The answer of -check is a line for people. With -json it is one object of the
type "check_reason" for each reason, with code, @message and what it is about
(provider or module, or neither), and one of the type "check" at the end, with
up_to_date and reasons, their number. The codes don't change:
  lock_missing_provider    a required provider has no entry in the lock file
  constraint_unsatisfied   the locked version isn't allowed any more
  lock_without_hash        the entry has no h1 hash to compare a package with
  lock_extra_provider      a provider has an entry and isn't required any more
  package_absent           the locked version of a provider isn't installed
  package_differs          the installed package has none of the locked hashes
  package_refused          a policy refuses the package
  built_in_invalid         a built-in provider has a version or an unknown name
  module_absent            a module isn't installed
  module_source_changed    the module is installed from another source
  module_version_changed   the installed version isn't allowed any more
  module_record_differs    modules.json would be written again
  module_differs           a module isn't what the lock file for modules says
  backend_uninitialized    the backend isn't recorded
  backend_changed          another backend is recorded, or with other settings
  backend_removed          a backend is recorded, and none is configured
  workspace_missing        the selected workspace doesn't exist
  plugin_dirs_changed      -plugin-dir isn't what is recorded of it

-plan has these codes, too, and "provider_upgrade" and "module_upgrade" where
only -upgrade is the reason. With -json there is an object of the type
"plan_module" for each module that would be fetched, "plan_provider" for each
provider, "check_reason" for everything else, and at the end "plan" with
up_to_date, complete (false: what modules require that aren't here is unknown),
modules, fetch, link, present, bytes and unknown_sizes.`
