package command

const providersVerifyUsage = `Usage: tfdeps [global options] providers verify [options]

  Reads every package in .terraform/providers from its first byte to its last,
  hashes it, and says whether the lock file has the hash. What is remembered of
  packages doesn't count, no request is sent, and nothing is written.

  What differs is one of these:

  missing         the lock file selects a package that isn't there
  dangling link   a link stands in its place, and leads nowhere
  not locked      it is there, and the lock file doesn't select the version
  differs         its hash is none of those that the lock file has

  What can't be told is one of these:

  unproven        the lock file has only hashes of archives (zh), or none, and the
                  package is unpacked: that takes an h1
  unreadable      the package can't be hashed

Options:

  -dir=DIR             The directory with the lock file, instead of the current
                       one. May be given more than once, and be a pattern such as
                       envs/*, of which the directories with a lock file count. A
                       package that several of them share is read once.

  -cache, -cache=DIR   Look into the shared cache instead: the one that init uses,
                       or the one that is in this directory, as for
                       "cache verify -dir". Nothing has to be in a cache, and what
                       isn't locked is passed over.

  -mirror=DIR          Look into this filesystem mirror instead, with packages that
                       are packed or unpacked. What isn't locked is passed over.
                       May be given more than once.

  -vendored            Look into terraform.d/plugins instead.

  -platform=OS_ARCH    For which platform everything has to be there; may be given
                       more than once. The default is the one that this is. What
                       is there for others is compared, too.

  -json                Print a JSON object, which is described below.

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  The exit code is 0 if all is as the lock files say, 2 if something differs, and
  1 if that can't be told.

The JSON object:

  format_version       "1.0". Keys may be added to it; the first number
                       changes when one is changed or removed.
  trees                each place that was compared with a lock file:
    path, lock_file
    packages             each package:
      address, version, platform
      finding              "sound", "missing", "dangling_link", "not_locked",
                           "differs", "unproven" or "unreadable"
      path, packed         where it is; absent if it is missing
      h1, zh               what was computed; absent if that wasn't possible
      locked_version       what the lock file selects; null: it has no entry
      locked_hashes        what it records
      error                why it can't be hashed; absent if it can`

// Help is what "tfdeps providers verify -help" prints.
func (c *ProvidersVerifyCommand) Help() string { return providersVerifyUsage }
