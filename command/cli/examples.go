package cli

import (
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/explain"
)

// Examples returns the command's examples: each is a line as it is typed, and a sentence about its purpose.
func (c Command) Examples(names explain.Names) (all [][2]string) {
	_, section, found := strings.Cut(examples, "\n# "+c.Name+"\n")
	section, _, _ = strings.Cut(section, "\n# ")
	for pair := range slices.Chunk(strings.Split(names.Expand(strings.TrimSpace(section)), "\n"), 2) {
		if found {
			all = append(all, [2]string{pair[0], strings.TrimSpace(pair[1])})
		}
	}
	return all
}

// examples has, below each command's name, a line as it is typed, and below that its purpose. The scripts of completion are for the name tfdeps.
const examples = `
# init
$TFDEPS init
    Install modules and providers, and record the backend.
$TFDEPS init -upgrade
    Take the newest versions that the constraints allow.
$TFDEPS init -frozen
    In CI: take what is locked, send no request, change no lock file.
$TFDEPS init -report=init.html
    Show in a browser how long everything took.
$TFDEPS init -platform=linux_amd64,darwin_arm64
    Add hashes for other platforms to the lock file.
$TFDEPS init -recursive -changed-since=origin/main
    Work in all root modules that this branch changes.
# outdated
$TFDEPS outdated -recursive
    List newer versions, and what holds them back, in all root modules.
$TFDEPS outdated -exit-code
    In CI: exit with 2 if an upgrade would find something.
# why
$TFDEPS why hashicorp/aws
    Show the files that require a provider, in all root modules.
$TFDEPS why terraform-aws-modules/vpc/aws
    Show the files that call a module.
# roots
$TFDEPS roots
    List the root modules below the current directory.
$TFDEPS roots -changed-since=origin/main -json
    For a CI matrix: list those that this branch changes.
# get
$TFDEPS get
    Fetch missing modules.
$TFDEPS get -update
    Fetch all modules again.
# vendor
$TFDEPS vendor -platform=linux_amd64
    Put what the configuration needs on Linux into the repository.
$TFDEPS vendor -check
    In CI: exit with 2 if something is missing or out of date.
$TFDEPS vendor -o deps.tar
    Write one archive, for a machine without a network.
# serve
$TFDEPS serve -listen=:8443 -tls-cert=tls.crt -tls-key=tls.key /srv/mirror
    Serve a mirror to all machines, and keep its packages in a directory.
$TFDEPS serve -- terragrunt run --all init
    Run a command with many inits, and download each package once.
$TFDEPS serve -tokens=tokens.txt -include='acme/*' s3://company/mirror
    Serve some providers from a bucket, to clients with a token.
# serve gc
$TFDEPS serve gc -max-unused=90d -dry-run s3://company/mirror
    List archives that no client has asked for in 90 days.
# policy check
$TFDEPS policy check envs/prod envs/test
    List the locked versions that the policy refuses, and the rules.
# version
$TFDEPS version -json
    Print versions for programs.
# providers
$TFDEPS providers
    Show which module requires which provider.
$TFDEPS providers -json
    The same for programs.
# providers lock
$TFDEPS providers lock -platform=linux_amd64 -platform=darwin_arm64
    Record hashes for two platforms.
$TFDEPS providers lock -check -platform=linux_amd64
    In CI: fail if the lock file lacks a hash.
# providers mirror
$TFDEPS providers mirror /srv/providers
    Put the packages that the configuration needs into a mirror.
$TFDEPS providers mirror -versions=all -prune /srv/providers
    Put all allowed versions there, and prune all others.
# providers urls
$TFDEPS providers urls -json
    List URLs for other programs to download.
# providers verify
$TFDEPS providers verify
    Compare this directory's packages with its lock file.
$TFDEPS providers verify -dir='envs/*'
    Compare those of several directories.
# hash
$TFDEPS hash terraform-provider-null_3.2.3_linux_amd64.zip
    Show the hashes that a lock file would have for a package.
# cache
$TFDEPS cache list
    List the cached packages.
$TFDEPS cache gc -max-size=20GB
    Remove the least recently used packages.
# cache add
$TFDEPS cache add hashicorp/aws@5.60.0
    Put one version into the cache.
$TFDEPS cache add -locked .
    Add what the lock files in and below this directory select.
# cache clean
$TFDEPS cache clean -dry-run
    Show what would be removed.
$TFDEPS cache clean hashicorp/aws
    Remove all versions of a provider.
# cache dir
$TFDEPS cache dir
    Show where the cache is.
# cache gc
$TFDEPS cache gc
    Remove packages that no init has used for 30 days.
$TFDEPS cache gc -older-than=2w -dry-run
    List packages unused for two weeks.
# cache pull
$TFDEPS cache pull s3://company-ci/tfdeps
    Get what the lock files in and below this directory select.
# cache push
$TFDEPS cache push s3://company-ci/tfdeps
    Send what is missing there.
$TFDEPS cache push /mnt/shared/tfdeps envs/prod
    Copy what one lock file selects into a directory.
# cache prune
$TFDEPS cache prune -keep-locked .
    Keep what lock files in and below this directory select, and remove the rest.
# cache key
$TFDEPS cache key -github >> "$$GITHUB_OUTPUT"
    Name the cache of a CI job by the locked packages.
# cache list
$TFDEPS cache list -json
    List the packages for programs.
# cache verify
$TFDEPS cache verify -repair
    Read all packages, and remove damaged ones.
# doctor
$TFDEPS doctor
    See why something isn't found, trusted or cached.
$TFDEPS doctor -json > doctor.json
    Attach it to a report: it has no token.
# completion
source <(tfdeps completion bash)
    In ~/.bashrc: complete commands in bash.
tfdeps completion powershell | Out-String | Invoke-Expression
    In $$PROFILE: complete commands in PowerShell.
tfdeps completion zsh > "$${fpath[1]}/_tfdeps"
    Install the completion for zsh.
tfdeps completion fish > ~/.config/fish/completions/tfdeps.fish
    Install the completion for fish.
`
