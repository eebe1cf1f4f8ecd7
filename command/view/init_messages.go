package view

import "strings"

// message is a heading or a paragraph that belongs to no provider. Code is
// what programs know it by; it doesn't change when the words do.
type message struct {
	code  string
	text  string
	style style
	// gap sets the message off from what came before, for people.
	gap bool
}

// style is how a message looks on a terminal.
type style int

const (
	plainText style = iota
	heading
	success
	good
)

// The messages of an init. PRODUCT and PROGRAM stand for the product's names.
var (
	emptyDirectory = message{code: "output_init_empty_message", style: heading,
		text: "PRODUCT initialized in an empty directory!\n\n" +
			"The directory has no PRODUCT configuration files. You may begin working\n" +
			"with PRODUCT immediately by creating PRODUCT configuration files."}
	initializingBackend = message{code: "initializing_backend_message", style: heading,
		text: "Initializing the backend..."}
	initializingCloud = message{code: "initializing_terraform_cloud_message", style: heading,
		text: "Initializing HCP Terraform..."}
	backendConfigured = message{code: "backend_configured_success", style: good, gap: true,
		text: "Successfully configured the backend \"BACKEND\"! PRODUCT will automatically\n" +
			"use this backend unless the backend configuration changes."}
	initializingModules = message{code: "initializing_modules_message", style: heading,
		text: "Initializing modules..."}
	upgradingModules = message{code: "upgrading_modules_message", style: heading,
		text: "Upgrading modules..."}
	initializingProviders = message{code: "initializing_provider_plugin_message", style: heading,
		text: "Initializing provider plugins..."}
	lockCreated = message{code: "lock_info",
		text: "PRODUCT has created a lock file .terraform.lock.hcl to record the provider\n" +
			"selections it made above. Include this file in your version control repository\n" +
			"so that PRODUCT can guarantee to make the same selections by default when\n" +
			"you run \"PROGRAM init\" in the future."}
	lockChanged = message{code: "dependencies_lock_changes_info",
		text: "PRODUCT has made some changes to the provider dependency selections recorded\n" +
			"in the .terraform.lock.hcl file. Review those changes and commit them to your\n" +
			"version control system if they represent changes you intended to make."}
	initialized = message{code: "output_init_success_message", style: success,
		text: "PRODUCT has been successfully initialized!"}
	nextSteps = message{code: "output_init_success_cli_message", style: good, gap: true,
		text: "You may now begin working with PRODUCT. Try running \"PROGRAM plan\" to see\n" +
			"any changes that are required for your infrastructure. All PRODUCT commands\n" +
			"should now work.\n\n" +
			"If you ever set or change modules or backend configuration for PRODUCT,\n" +
			"rerun this command to reinitialize your working directory. If you forget, other\n" +
			"commands will detect it and remind you to do so if necessary."}
	initializedCloud = message{code: "output_init_success_cloud_message", style: success,
		text: "CLOUD has been successfully initialized!"}
	nextStepsCloud = message{code: "output_init_success_cli_cloud_message", style: good, gap: true,
		text: "You may now begin working with CLOUD. Try running \"PROGRAM plan\" to\n" +
			"see any changes that are required for your infrastructure.\n\n" +
			"If you ever set or change modules or PRODUCT Settings, run \"PROGRAM init\"\n" +
			"again to reinitialize your working directory."}
)

// of fills in the product's names.
func (m message) of(name, program string) message {
	m.text = strings.NewReplacer("PRODUCT", name, "PROGRAM", program).Replace(m.text)
	return m
}

// ofCloud fills in what the product calls the service of its cloud block.
func (m message) ofCloud(service string) message {
	m.text = strings.ReplaceAll(m.text, "CLOUD", service)
	return m
}
