package command

const cacheUsage = `Usage: tfdeps [global options] cache <command> [options]

  Looks after the cache of providers that working directories share: the directory
  that plugin_cache_dir or TF_PLUGIN_CACHE_DIR names, else one of our own, which
  TFDEPS_CACHE_DIR moves. All commands are safe beside running inits.

  add       Put packages into the cache
  clean     Remove packages
  dir       Show where the cache is
  gc        Remove what isn't used any more (alias: prune)
  key       Show a key for what lock files select
  list      List the packages
  verify    Read and hash all packages

  To see the options of a command: tfdeps cache <command> -help`

const cacheDirOption = `  -dir=DIR             The cache below this directory, as if TFDEPS_CACHE_DIR
                       named it, whatever the CLI configuration says.
`

const cacheDirUsage = `Usage: tfdeps [global options] cache dir [options]

  Shows the directory of the cache, which needn't exist. With -json that is an
  object with format_version, directory and named (by the CLI configuration or
  the variable TF_PLUGIN_CACHE_DIR).

Options:

` + cacheDirOption + `
  -json                Print a JSON object.`

const cacheListUsage = `Usage: tfdeps [global options] cache list [options]

  Lists the packages: address, version, platform, the bytes in their files and
  on the disk (where packages share files, the first one has them), when a
  directory was last prepared with it, and which directories have it, as
  far as they were prepared by tfdeps and the same user. "complete" is what is
  exactly as its receipt says, "damaged" what can't be; anything else would have
  to be read.

Options:

` + cacheDirOption + `
  -json                Print a JSON object: format_version, directory, named,
                       size, size_on_disk, packages, and for each of those
                       address, version, platform, directory, size,
                       size_on_disk, last_use, used_by, linked_by (those of
                       used_by that have but a symbolic link), receipt,
                       condition. Keys may be added.`

const cacheVerifyUsage = `Usage: tfdeps [global options] cache verify [options]

  Reads all packages and compares them with their receipts. The exit code is 0 if
  none differs, 2 if one does, 1 if it couldn't be found out.

Options:

` + cacheDirOption + `
  -locked DIR...       Compare them with the lock files in and below these
                       directories, too.

  -repair              Remove what is damaged. The next init that wants it
                       fetches it.

  -json                Print a JSON object: format_version, directory, named;
                       packages, and for each of them address, version,
                       platform, directory, finding (sound, damaged,
                       not_locked, unknown), h1, expected (what it should have
                       been one of), error (why it can't be read); and, of
                       -repair, removed and kept as those of gc. Keys may be
                       added.`

const cacheRemoveOptions = cacheDirOption + `
  -dry-run             Remove nothing, and tell what would be removed.

  -force               Remove packages to which directories have symbolic links,
                       too. They have to be prepared again.

  -json                Print a JSON object: format_version, directory, named,
                       dry_run; the bytes freed and shared, and shared_with,
                       the directories that have hard links; removed, and for
                       each of these packages address, version, platform,
                       directory, size, size_on_disk, last_use; kept, with
                       reason (linked, in_use, no_receipt, failed), detail,
                       linked_by; and modules: entries and bytes removed from
                       their store. With -dry-run, removed and modules are what
                       would be. Keys may be added.
`

const cacheGCUsage = `Usage: tfdeps [global options] cache gc [options]

  Removes packages that aren't used any more, and what killed runs and
  directories that are gone have left. Packages stay which somebody is working on,
  and those to which a directory has a symbolic link, if that was made by tfdeps.
  What is in parentheses in the result still takes room, because directories
  have hard links to it.

  Without options, packages go that no directory was prepared with for 30 days.
  Archives and git repositories of modules go that were fetched longer ago than
  that.

  In a cache that plugin_cache_dir or TF_PLUGIN_CACHE_DIR names, packages without
  a receipt of ours stay.

Options:

  -older-than=30d      Remove what wasn't used for so long: 2w, 12h.

  -max-size=20GB       Remove what was used least recently, until no more is left
                       than that.

  -keep-locked DIR...  Keep what lock files in and below these directories
                       select. Without -older-than and -max-size, remove all the
                       rest.

` + cacheRemoveOptions

const cacheCleanUsage = `Usage: tfdeps [global options] cache clean [options] [ADDRESS[@VERSION]...]

  Removes all packages, and the store of modules; or all versions of a provider,
  such as hashicorp/aws, or one, such as hashicorp/aws@5.0.0. In a cache that
  plugin_cache_dir or TF_PLUGIN_CACHE_DIR names, packages without a receipt of ours
  go only if they are named.

Options:

` + cacheRemoveOptions

const cacheAddUsage = `Usage: tfdeps [global options] cache add [options] ADDRESS[@VERSION]...
       tfdeps [global options] cache add [options] -locked DIR|FILE...

  Puts packages into the cache that init will find there, without a working
  directory: no configuration is read, no module and no state. Without a version
  it is the newest one. They come from where init would get them.

Options:

` + cacheDirOption + `
  -locked DIR|FILE...  What these lock files select, or those in and below these
                       directories, with the hashes that they record.

  -platform=OS_ARCH    For this platform. May be given more than once.

  -offline             Send no request. What isn't there yet has to be in a mirror
                       on this machine.

  -json                Print a JSON object: format_version, directory, named;
                       packages, those that were asked for, and for each of
                       them address, version, platform, directory, added, error
                       (why it isn't there); and of -system, receipts: whether
                       there are any. Keys may be added.

  -system              Make a cache that is part of an image, in
                       ` + systemCacheDir + ` or below -dir: readable for all,
                       the same bytes and times each time (those of
                       SOURCE_DATE_EPOCH, else 1980), and with receipts beside
                       it, so that its users needn't read the packages if
                       root alone can write to it. They find it if
                       TFDEPS_CACHE_DIR names it.`

const cacheKeyUsage = `Usage: tfdeps [global options] cache key [options] [DIR|FILE...]

  Shows one key for all that the lock files select, those of the current directory
  and below, or in and below the directories given. Equal sets of packages have
  the same key: addresses, versions, the platform and the hashes count; comments,
  constraints, and which directory needs what, don't. Nothing but lock files
  is looked at. Directories whose names begin with a dot are left out.

Options:

  -github              Print path, key and restore-keys, for $GITHUB_OUTPUT.

  -platform=OS_ARCH    For this platform.

` + cacheDirOption
