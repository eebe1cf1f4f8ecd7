package cachecmd

import (
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Commands returns "cache" and its subcommands.
func Commands() []cli.Command {
	gc := sources.Command[gcOptions](cli.Command{Name: "cache gc", Synopsis: "Remove unused packages from the shared cache",
		Usage: "cache gc [options]", About: gcAbout,
		Examples: [][2]string{
			{"$TFDEPS cache gc", "Remove packages that no init has used for 30 days."},
			{"$TFDEPS cache gc -older-than=2w -dry-run", "List packages unused for two weeks."},
		},
	}, cli.Flags.Mixed)
	prune := gc
	prune.Name = "cache prune"
	prune.Examples = [][2]string{{"$TFDEPS cache prune -keep-locked .", "Keep what lock files in and below this directory select, and remove the rest."}}
	return []cli.Command{
		{Name: "cache", Synopsis: "Manage the cache that working directories share", Run: run, Lines: true, Flags: func() cli.Flags { return nil },
			Usage: "cache <command> [options]", About: cacheAbout,
			Examples: [][2]string{
				{"$TFDEPS cache list", "List the cached packages."},
				{"$TFDEPS cache gc -max-size=20GB", "Remove the least recently used packages."},
			},
		},
		sources.Command[addOptions](cli.Command{Name: "cache add", Synopsis: "Put packages into the shared cache",
			Usage: "cache add [options] ADDRESS[@VERSION]...\ncache add [options] -locked DIR|FILE...", About: `  Puts packages into the cache for init to find, without a working directory: no
  configuration, module or state is read. Without a version, it takes the newest
  one. Packages come from where init would get them.`,
			Examples: [][2]string{
				{"$TFDEPS cache add hashicorp/aws@5.60.0", "Put one version into the cache."},
				{"$TFDEPS cache add -locked .", "Add what the lock files in and below this directory select."},
			},
		}, cli.Flags.Mixed),
		sources.Command[cleanOptions](cli.Command{Name: "cache clean", Synopsis: "Remove packages from the shared cache",
			Usage: "cache clean [options] [ADDRESS[@VERSION]...]", About: cleanAbout,
			Examples: [][2]string{
				{"$TFDEPS cache clean -dry-run", "Show what would be removed."},
				{"$TFDEPS cache clean hashicorp/aws", "Remove all versions of a provider."},
			},
		}, cli.Flags.Mixed),
		sources.Command[dirOptions](cli.Command{Name: "cache dir", Synopsis: "Show where the shared cache is",
			Usage: "cache dir [options]", About: `  Shows the directory of the cache, which needn't exist. With -json it prints an
  object with format_version, directory and named (by the CLI configuration or
  TF_PLUGIN_CACHE_DIR), started_at, ended_at and diagnostics.`,
			Examples: [][2]string{{"$TFDEPS cache dir", "Show where the cache is."}},
		}, cli.Flags.Alone),
		gc,
		sources.Command[keyOptions](cli.Command{Name: "cache key", Synopsis: "Show a cache key for the locked packages",
			Usage: "cache key [options] [DIR|FILE...]", About: keyAbout,
			Examples: [][2]string{{`$TFDEPS cache key -github >> "$$GITHUB_OUTPUT"`, "Name the cache of a CI job by the locked packages."}},
		}, cli.Flags.Mixed),
		sources.Command[listOptions](cli.Command{Name: "cache list", Synopsis: "List the packages in the shared cache",
			Usage: "cache list [options]", About: listAbout,
			Examples: [][2]string{{"$TFDEPS cache list -json", "List the packages for programs."}},
		}, cli.Flags.Alone),
		prune,
		sources.Command[verifyOptions](cli.Command{Name: "cache verify", Synopsis: "Read and hash all packages in the shared cache",
			Usage: "cache verify [options]", About: `  Reads all packages and compares them with their receipts. The exit code is 0
  if none differs, 2 if one does, 1 if that is unknown.`,
			Examples: [][2]string{{"$TFDEPS cache verify -repair", "Read all packages, and remove damaged ones."}},
		}, cli.Flags.Mixed),
	}
}

const gcAbout = `  Removes unused packages, and what killed runs and deleted directories left
  behind. It keeps packages that another process is working on, and packages to
  which tfdeps made a symbolic link in some directory. The size in parentheses
  in the result isn't free yet: directories have hard links to these packages.

  Without options, it removes packages that no init has used for 30 days, and
  archives and git repositories of modules that are older than that.

  In a cache that plugin_cache_dir or TF_PLUGIN_CACHE_DIR names, packages
  without a receipt of tfdeps stay.`

const cacheAbout = `  Commands for the provider cache that working directories share. It is the
  directory that plugin_cache_dir or TF_PLUGIN_CACHE_DIR names, otherwise one of
  tfdeps' own, which TFDEPS_CACHE_DIR moves. All of them may run while others
  run "$TFDEPS init". "prune" is another name for "gc".

  "$TFDEPS cache COMMAND -help" shows the options of a command.`

const cleanAbout = `  Removes all packages, and the module store; or all versions of a provider,
  such as hashicorp/aws, or one, such as hashicorp/aws@5.0.0. From a cache that
  plugin_cache_dir or TF_PLUGIN_CACHE_DIR names, packages without a receipt of
  tfdeps are removed only if they are named.`

const keyAbout = `  Shows one key for the packages that lock files select: those in and below the
  current directory, or in and below the directories given. Equal sets of
  packages have the same key. Addresses, versions, the platform and hashes
  count. Comments, constraints, and which directory needs what, don't. Only lock
  files are read. Directories whose names begin with a dot are left out.`

const listAbout = `  Lists the packages: address, version, platform, the bytes in their files and
  on the disk (shared files count for the first package), when a directory was
  last prepared with it, and which directories have it, if tfdeps prepared them
  for the same user. A "complete" package matches its receipt exactly, a
  "damaged" one can't match; any other would have to be read.`

func (o *addOptions) Flags() cli.Flags {
	return cli.Flags{
		o.dirFlag(),
		cli.Option("locked DIR|FILE...", cli.Paths(&o.paths),
			"Add what these lock files select, or those in and below these directories, with the recorded hashes"),
		cli.Option("platform=OS_ARCH", cli.Each(&o.platforms, getproviders.ParsePlatform), "Add packages for this platform", "May be given more than once."),
		sources.MirrorFlag(&o.mirrors),
		sources.PolicyFlag(&o.policies),
		cli.Offline(&o.offlineBy, "Send no request", "What the cache lacks has to be in a mirror on this machine."),
		o.JSONFlag("Print a JSON object: format_version, directory, named; packages (those asked for), each with address, version, platform, directory, added, source, bytes, error and code (why it isn't there), started_at and ended_at; with -system, receipts: whether there are any; summary, started_at, ended_at, diagnostics", "Keys may be added."),
		cli.Switch("system", &o.system,
			"Make a cache for an image, in "+systemCacheDir+" or below -dir: readable by all, with the same bytes and times each time (the time is SOURCE_DATE_EPOCH, else in 1980), and with receipts beside it, so that its users needn't read the packages if only root can write to it, and they can't: they aren't root, or it is mounted read-only", "They find it if TFDEPS_CACHE_DIR names it."),
		cli.Progress(&o.progress),
	}
}

func (o *dirOptions) Flags() cli.Flags {
	return cli.Flags{o.dirFlag(), o.JSONFlag("Print a JSON object")}
}

func (o *listOptions) Flags() cli.Flags {
	return cli.Flags{o.dirFlag(), o.JSONFlag("Print a JSON object: format_version, directory, named, size, size_on_disk, packages, each with address, version, platform, directory, size, size_on_disk, last_use, used_by, linked_by (those of used_by that have only a symbolic link), receipt, condition; summary, started_at, ended_at, diagnostics", "Keys may be added.")}
}

func (o *verifyOptions) Flags() cli.Flags {
	return cli.Flags{
		o.dirFlag(),
		cli.Option("locked DIR...", cli.Paths(&o.paths), "Compare them with the lock files in and below these directories, too"),
		cli.Switch("repair", &o.repair, "Remove damaged packages", "The next init that needs one fetches it."),
		o.JSONFlag("Print a JSON object: format_version, directory, named; packages, each with address, version, platform, directory, finding (sound, damaged, not_locked, unknown), h1, expected (the accepted hashes), error and code (why it can't be read); with -repair, removed and kept, as for gc; summary, started_at, ended_at, diagnostics", "Keys may be added."),
		cli.Progress(&o.progress),
	}
}

func (o *removeOptions) Flags() cli.Flags {
	return cli.Flags{
		o.dirFlag(),
		cli.Switch("dry-run", &o.dryRun, "List what would be removed, and remove nothing"),
		cli.Switch("force", &o.force, "Also remove packages to which directories have symbolic links", "These directories need another init."),
		o.JSONFlag("Print a JSON object: format_version, directory, named, dry_run; the bytes freed and shared, and shared_with, the directories that have hard links; removed packages, each with address, version, platform, directory, size, size_on_disk, last_use; kept, with reason (linked, in_use, no_receipt, failed), detail, linked_by; and modules: entries and bytes removed from the module store", "With -dry-run, removed and modules are what would be removed. Last are summary, started_at, ended_at, diagnostics. Keys may be added."),
	}
}

func (o *gcOptions) Flags() cli.Flags {
	return append(cli.Flags{
		cli.Option("older-than=30d", cli.Parsed(&o.olderThan, cli.ParseAge), "Remove what wasn't used for this long, such as 2w or 12h"),
		cli.Option("max-size=20GB", cli.Parsed(&o.maxBytes, cli.ParseLimit), "Remove what was used least recently, until the rest is no larger than this"),
		cli.Option("keep-locked DIR...", cli.Paths(&o.keepLocked),
			"Keep what lock files in and below these directories select", "Without -older-than and -max-size, remove all the rest."),
	}, o.removeOptions.Flags()...)
}

func (o *keyOptions) Flags() cli.Flags {
	return cli.Flags{
		cli.Switch("github", &o.github, "Print path, key and restore-keys, for $$GITHUB_OUTPUT"),
		cli.Option("platform=OS_ARCH", cli.Parsed(&o.platform, getproviders.ParsePlatform), "The platform of the packages", "The default is this machine's."),
		o.dirFlag(),
		o.JSONFlag("Print a JSON object: format_version, key, platform, restore_keys, started_at, ended_at, diagnostics"),
	}
}
