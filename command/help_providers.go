package command

const providersUsage = `Usage: tfdeps [global options] providers [options]

  Shows the tree of modules with the providers that each of them requires, and
  the providers that the state requires. Nothing is installed and no host is
  asked: modules have to be installed, by init or get.

  A state in the care of a backend can't be read. A warning says so.

Options:

  -json                Print a JSON object, which is described below.

  -state=FILE          Read this state instead of that of the current
                       workspace; with "-" standard input, as in
                       terraform state pull | tfdeps providers -state=-

  -test-directory=DIR  Where test files are besides the working directory. The
                       default is "tests".

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted and without effect: -var, -var-file.

The JSON object:

  format_version       "1.0". Keys may be added to it; the first number
                       changes when one is changed or removed.
  modules              each module, the root first:
    path                 its place: "" is the root, "module.a.module.b" what
                         calls lead to, "test.tests.t.run" what a test runs
    parent               the path of the module that calls it; null: the root
    key, source, version, dir
                         as in modules.json, the source without secrets
    call                 where it is called: file, line, version_constraints
    required_providers   what it asks for itself, by address:
      address              "registry.terraform.io/hashicorp/aws"
      version_constraints  all of its constraints together; "": any version
      origins              each file and line, with the constraints there
  state                providers: addresses that the state requires; null if
                       it couldn't be read
  providers            each provider that is required anywhere:
    address, built_in
    version_constraints  those of all modules together
    locked               what the lock file selects: version,
                         version_constraints; null if it has no entry`

// Help is what "tfdeps providers -help" prints.
func (c *ProvidersCommand) Help() string { return providersUsage }
