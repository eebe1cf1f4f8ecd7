package command

import "github.com/tfdeps/tfdeps/command/cli"

// examples are those in the help of each command, by its name.
var examples = map[string][]cli.Example{
	"init": {
		{Line: "tfdeps init", Why: "Install modules and providers, and record the backend."},
		{Line: "tfdeps init -upgrade", Why: "Take the newest versions that the constraints allow."},
		{Line: "tfdeps init -frozen", Why: "In CI: take what is locked, send no request, change no lock file."},
		{Line: "tfdeps init -report=init.html", Why: "See in a browser what took how long."},
		{Line: "tfdeps init -platform=linux_amd64,darwin_arm64", Why: "Make the lock file good for other platforms, too."},
	},
	"get": {
		{Line: "tfdeps get", Why: "Fetch the modules that aren't there."},
		{Line: "tfdeps get -update", Why: "Fetch all of them again."},
	},
	"vendor": {
		{Line: "tfdeps vendor -platform=linux_amd64", Why: "Put what the configuration needs on Linux into the repository."},
		{Line: "tfdeps vendor -check", Why: "In CI: exit with 2 if something is missing or out of date."},
		{Line: "tfdeps vendor -o deps.tar", Why: "Write one archive, for a machine without a network."},
	},
	"serve": {
		{Line: "tfdeps serve -listen=:8443 -tls-cert=tls.crt -tls-key=tls.key /srv/mirror", Why: "Serve a mirror to all machines, and keep its packages in a directory."},
		{Line: "tfdeps serve -- terragrunt run --all init", Why: "Have a command that runs many inits download each package once."},
		{Line: "tfdeps serve -tokens=tokens.txt -include='acme/*' s3://company/mirror", Why: "Serve some providers to those who have a token, from a bucket."},
	},
	"version": {
		{Line: "tfdeps version -json", Why: "Print versions for programs."},
	},
	"providers": {
		{Line: "tfdeps providers", Why: "Show which module requires which provider."},
		{Line: "tfdeps providers -json", Why: "The same for programs."},
	},
	"providers lock": {
		{Line: "tfdeps providers lock -platform=linux_amd64 -platform=darwin_arm64", Why: "Record hashes for two platforms."},
		{Line: "tfdeps providers lock -check -platform=linux_amd64", Why: "In CI: fail if the lock file lacks a hash."},
	},
	"providers mirror": {
		{Line: "tfdeps providers mirror /srv/providers", Why: "Put the packages that the configuration needs into a mirror."},
		{Line: "tfdeps providers mirror -versions=all -prune /srv/providers", Why: "Put all allowed versions there, and list what can go."},
	},
	"providers urls": {
		{Line: "tfdeps providers urls -json", Why: "List URLs, for a download by other means."},
	},
	"providers verify": {
		{Line: "tfdeps providers verify", Why: "Compare this directory's packages with its lock file."},
		{Line: "tfdeps providers verify -dir='envs/*'", Why: "Compare those of several directories."},
	},
	"hash": {
		{Line: "tfdeps hash terraform-provider-null_3.2.3_linux_amd64.zip", Why: "Show the hashes that a lock file would have for a package."},
	},
	"cache": {
		{Line: "tfdeps cache list", Why: "Show what the cache has."},
		{Line: "tfdeps cache gc -max-size=20GB", Why: "Remove what was used least recently."},
	},
	"cache add": {
		{Line: "tfdeps cache add hashicorp/aws@5.60.0", Why: "Put one version into the cache."},
		{Line: "tfdeps cache add -locked .", Why: "Put there what the lock files in and below this directory select."},
	},
	"cache clean": {
		{Line: "tfdeps cache clean -dry-run", Why: "Show what would be removed."},
		{Line: "tfdeps cache clean hashicorp/aws", Why: "Remove all versions of a provider."},
	},
	"cache dir": {
		{Line: "tfdeps cache dir", Why: "Show where the cache is."},
	},
	"cache gc": {
		{Line: "tfdeps cache gc", Why: "Remove packages that no init has used for 30 days."},
		{Line: "tfdeps cache gc -older-than=2w -dry-run", Why: "Show what two weeks would remove."},
	},
	"cache pull": {
		{Line: "tfdeps cache pull s3://company-ci/tfdeps", Why: "Get what the lock files in and below this directory select."},
	},
	"cache push": {
		{Line: "tfdeps cache push s3://company-ci/tfdeps", Why: "Send what isn't there yet."},
		{Line: "tfdeps cache push /mnt/shared/tfdeps envs/prod", Why: "Put into a directory what one lock file selects."},
	},
	"cache prune": {
		{Line: "tfdeps cache prune -keep-locked .", Why: "Keep what lock files in and below this directory select, and remove the rest."},
	},
	"cache key": {
		{Line: "tfdeps cache key -github >> \"$GITHUB_OUTPUT\"", Why: "Name the cache of a CI job by what is locked."},
	},
	"cache list": {
		{Line: "tfdeps cache list -json", Why: "List the packages for programs."},
	},
	"cache verify": {
		{Line: "tfdeps cache verify -repair", Why: "Read all packages, and remove those that are damaged."},
	},
	"doctor": {
		{Line: "tfdeps doctor", Why: "See why something isn't found, trusted or cached."},
		{Line: "tfdeps doctor -json > doctor.json", Why: "Attach it to a report. No token is in it."},
	},
	"completion": {
		{Line: "source <(tfdeps completion bash)", Why: "In ~/.bashrc: complete commands in bash."},
		{Line: "tfdeps completion zsh > \"${fpath[1]}/_tfdeps\"", Why: "Install the completion for zsh."},
		{Line: "tfdeps completion fish > ~/.config/fish/completions/tfdeps.fish", Why: "Install the completion for fish."},
	},
}
