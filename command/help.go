package command

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
)

// usage is the help for the program as a whole.
const usage = "Usage: " + synopsis + "\n\n" + description

const synopsis = "tfdeps [global options] <command> [args]"

const description = `Installs the providers and modules that a Terraform or OpenTofu configuration
needs. Run "tfdeps init" instead of "terraform init" or "tofu init", and then
"terraform plan" or "tofu plan" as usual. tfdeps works as Terraform does. It
works as OpenTofu does when called by a link named tofu, for init with
-with=tofu, and with TFDEPS_PRODUCT=tofu.

Commands:
  cache         Manage the cache that working directories share; "tfdeps help
                cache" lists its commands
  completion    Print a completion script for a shell
  doctor        Show what is configured here, and what is wrong with it
  get           Install or upgrade remote modules
  hash          Show the hashes of provider packages
  help          Show this help, or with a command's name the help for it
  init          Prepare your working directory for other commands
  outdated      List providers and modules that have a newer version
  policy check  Check lock files against the policy
  providers     Show the providers required for this configuration
  providers lock
                Add hashes for other platforms to the lock file
  providers mirror
                Fill a directory with packages for others to install from
  providers urls
                Show where the packages of required providers are
  providers verify
                Read installed packages and compare them with the lock file
  roots         List the root modules of a repository
  serve         Serve a mirror that fills itself from the registries
  serve gc      Remove unused archives of a server
  vendor        Put providers and modules into the repository
  version       Show the current version
  why           Show which files require a provider or call a module

Global options (use these before the command, if any):
  -chdir=DIR    Switch to a different working directory before executing the
                given command.
  -help         Show this help, or the help for a command; -help=all shows all
                options of init.
  -passthrough  Pass commands that are not listed here on to the real program,
                as a link to tfdeps named terraform or tofu, with or without a
                version, does.
  -version      An alias for the "version" command.

Environment:
  TF_DATA_DIR               where .terraform is kept
  TF_CLI_ARGS,              more arguments for every command, and for init;
  TF_CLI_ARGS_init          TF_CLI_ARGS_get, TF_CLI_ARGS_providers_lock and so
                            on are for the other commands
  TFDEPS_CLI_ARGS,          the same for arguments that the real program would
  TFDEPS_CLI_ARGS_init      refuse; they come after those
  TF_CLI_CONFIG_FILE        the CLI configuration, in place of .terraformrc (for
                            OpenTofu .tofurc, if it exists) and
                            .terraform.d/*.tfrc in the home directory
  TF_TOKEN_<host>           the token for a registry or mirror, with _ for each
                            dot of the host and __ for each dash
  TFDEPS_ARCHIVE_CREDENTIALS
                            same-host: send the token of a registry or mirror
                            also for packages on the same host
  TFDEPS_TRUSTED_KEYS       files with public keys to trust for signatures in
                            mirrors, separated as in PATH: FILE, or PATTERN=FILE
                            for providers such as example.com/acme/*, or
                            PATTERN=ID for the key of a HashiCorp partner
  TFDEPS_MIRROR             mirrors to take providers from, separated by commas,
                            as with -mirror: s3://BUCKET/PREFIX, gs://, https://
                            or a directory
  TFDEPS_POLICY             files with rules that refuse packages, separated as
                            in PATH, beside the repository's tfdeps.hcl
  NETRC                     the file with logins for packages, in place of
                            .netrc in the home directory
  TF_REATTACH_PROVIDERS     providers that run already and aren't installed
  TF_WORKSPACE              the workspace whose local state is read
  TF_IN_AUTOMATION          leave out advice on what to do next
  TF_REGISTRY_DISCOVERY_RETRY,
  TF_REGISTRY_CLIENT_TIMEOUT
                            how often to retry a request (1), and how many
                            seconds a response may take to begin (10)
  TFDEPS_DOCUMENT_TIMEOUT,  how many seconds a response other than an archive
  TFDEPS_MIN_RATE           may take (60), and the least download rate of
                            archives, in bytes a second over a minute (1024)
  TF_APPEND_USER_AGENT      added to the user agent of requests
  TFDEPS_LOG, TF_LOG        debug: a line on stderr for every request, with its
                            status, size and time; trace: also a line when it is
                            sent; json: as trace, with JSON objects; off: none.
                            TFDEPS_LOG takes precedence over TF_LOG
  TFDEPS_LOG_PATH,          the file to append these lines to, in place of
  TF_LOG_PATH               stderr
  TF_PLUGIN_CACHE_DIR       the provider cache that directories share by links
  TFDEPS_CACHE_DIR          where the cache is if no such directory is named
  TFDEPS_CHECK, TFDEPS_PLAN, TFDEPS_OFFLINE, TFDEPS_FROZEN,
  TFDEPS_LOCK_MODULES, TFDEPS_NO_SHARED_CACHE, TFDEPS_VERIFY,
  TFDEPS_PASSTHROUGH
                            1 or true, 0 or false (TFDEPS_VERIFY also ctime),
                            as the options of these names; an option takes
                            precedence over its variable
  TFDEPS_CACHE_MAX_SIZE, TFDEPS_HASHES, TFDEPS_LINK, TFDEPS_MIRROR_FALLBACK,
  TFDEPS_PLATFORM, TFDEPS_PROGRESS, TFDEPS_REPORT, TFDEPS_STATE, TFDEPS_WITH
                            likewise, with the option's value
  TFDEPS_PRODUCT            terraform or tofu: the program to work as, unless
                            -with or the name that tfdeps is called by says it;
                            the old name TFDEPS_ENGINE works, too
  TFDEPS_TERRAFORM_PATH,    the real program, instead of the next one on PATH
  TFDEPS_TOFU_PATH
  TFDEPS_TERRAFORM_VERSION, the version of Terraform or OpenTofu to work as,
  TFDEPS_TOFU_VERSION       instead of that of the program on PATH
  HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR, NO_COLOR
                            as for other programs`

// ManPages returns the manual pages, made from the help of all commands, by the names of their files, such as
// "tfdeps-init.1".
func ManPages() map[string]string {
	pages := map[string]string{}
	var b strings.Builder
	manHead(&b, "tfdeps", "install what a Terraform or OpenTofu configuration depends on")
	manText(&b, "SYNOPSIS", synopsis)
	manText(&b, "DESCRIPTION", description)
	pages["tfdeps.1"] = b.String()
	for _, c := range commands() {
		name := "tfdeps-" + strings.ReplaceAll(c.Name, " ", "-")
		pages[name+".1"] = manPage(name, c)
	}
	return pages
}

func manPage(name string, c cli.Command) string {
	var b strings.Builder
	names := defaultNames()
	manHead(&b, name, strings.ToLower(c.Synopsis[:1])+c.Synopsis[1:])
	const call = "tfdeps [global options] "
	manText(&b, "SYNOPSIS", call+strings.ReplaceAll(c.Usage, "\n", "\n"+call))
	manText(&b, "DESCRIPTION", names.Expand(c.About+"\n\n"+c.Details))
	below := ""
	for _, command := range commandsBelow(c.Name) {
		below += fmt.Sprintf("  %-10s %s\n", command.word, command.what)
	}
	manText(&b, "COMMANDS", below)
	manText(&b, "OPTIONS", c.Flags().Text(names))
	manText(&b, "MORE", names.Expand(c.More))
	b.WriteString(".SH EXAMPLES\n")
	for _, e := range c.Examples {
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", roff(names.Expand(e[1])), roff(names.Expand(e[0])))
	}
	b.WriteString(".SH SEE ALSO\n.BR tfdeps (1)\n")
	return b.String()
}

// defaultNames are those of the manual and of completion: tfdeps is called as itself, and does the work of Terraform.
func defaultNames() explain.Names { return new(cli.Meta).Names(getproviders.Terraform("")) }

func manHead(b *strings.Builder, name, what string) {
	fmt.Fprintf(b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), roff(name), roff(what))
}

// manText writes a section whose lines stay as they are, if it has any.
func manText(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
}

// roff escapes a line of text.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
