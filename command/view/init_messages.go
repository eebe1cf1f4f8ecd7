package view

import (
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

// The messages of an init. Names stand for words of the product: see [Init.filled].
var (
	emptyDirectory = line{code: "output_init_empty_message", style: terminal.Bold,
		human: `$PRODUCT initialized in an empty directory!

The directory has no $PRODUCT configuration files. You may begin working
with $PRODUCT immediately by creating $PRODUCT configuration files.`}
	initializingBackend = line{code: "initializing_backend_message", style: terminal.Bold,
		human: "Initializing the backend..."}
	initializingCloud = line{code: "initializing_terraform_cloud_message", style: terminal.Bold,
		human: "Initializing $IN_CLOUD..."}
	backendConfigured = line{code: "backend_configured_success", style: terminal.Green, gap: true,
		human: `Successfully configured the backend "$BACKEND"! $PRODUCT will automatically
use this backend unless the backend configuration changes`}
	initializingModules = line{code: "initializing_modules_message", style: terminal.Bold,
		human: "Initializing modules..."}
	upgradingModules = line{code: "upgrading_modules_message", style: terminal.Bold,
		human: "Upgrading modules..."}
	initializingProviders = line{code: "initializing_provider_plugin_message", style: terminal.Bold,
		human: "Initializing provider plugins..."}
	lockCreated = line{code: "lock_info",
		human: `$PRODUCT has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that $PRODUCT can guarantee to make the same selections by default when
you run "$PROGRAM init" in the future.`}
	lockChanged = line{code: "dependencies_lock_changes_info",
		human: `$PRODUCT has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.`}
	initialized = line{code: "output_init_success_message", style: terminal.Bold + terminal.Green,
		human: "$PRODUCT has been successfully initialized!"}
	nextSteps = line{code: "output_init_success_cli_message", style: terminal.Green, gap: true,
		human: `You may now begin working with $PRODUCT. Try running "$PROGRAM plan" to see
any changes that are required for your infrastructure. All $PRODUCT commands
should now work.

If you ever set or change modules or backend configuration for $PRODUCT,
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary.`}
	initializedCloud = line{code: "output_init_success_cloud_message", style: terminal.Bold + terminal.Green,
		human: "$CLOUD has been successfully initialized!"}
	nextStepsCloud = line{code: "output_init_success_cli_cloud_message", style: terminal.Green, gap: true,
		human: `You may now begin working with $IN_CLOUD. Try running "$PROGRAM plan" to
see any changes that are required for your infrastructure.

If you ever set or change modules or $PRODUCT Settings, run "$PROGRAM init"
again to reinitialize your working directory.`}
)
