package command

const vendorUsage = `Usage: tfdeps [global options] vendor [options]
       tfdeps [global options] vendor -unpack=FILE.tar [-json] [DIR]

  Puts all that this directory needs into the directory itself, to be committed:
  packages of providers into terraform.d/plugins, modules, those that they call
  included, into .terraform/modules with modules.json, and what the packages
  are into .terraform.lock.hcl. In a clone of the repository, "terraform init" and
  "tfdeps init" then need no network. No configuration is changed, and none of
  the CLI is needed: it must not have a provider_installation block.

  Providers come from where init would take them, and are verified as there. What
  is vendored already, and is what was locked, isn't asked for again. What is
  signed about an archive lies beside it. Packages that you have put there
  yourself are verified, locked, and left as they are.

  Lines that git needs are kept in a marked block at the end of .gitignore and
  .gitattributes; the rest of these files is yours. What was vendored, for which
  platforms and how, is in terraform.d/vendor.json.

Options:

  -platform=OS_ARCH    A platform such as linux_amd64; may be given more than once.
                       The default are those of the last time, at first the one
                       that this is.

  -unpacked            Vendor providers as directories. Archives, the default,
                       are a quarter of the size and one file each, and nothing
                       in them can be changed by git or by accident.
                       -unpacked=false goes back to them.

  -lfs                 Have .gitattributes tell git LFS to keep the packages of
                       providers. -lfs=false takes that back.

  -upgrade             Take the newest versions of modules and providers that
                       are allowed.

  -hashes=             Whom to believe about hashes for other platforms: "auto",
                       "listed" or "read", as for "providers lock".

  -prune               Remove packages of providers and modules that aren't
                       needed any more, and nothing else. Packages of providers
                       that you have put there yourself stay.

  -check               Change nothing and ask no host: exit with 0 if everything
                       is vendored, with 2 and a list if not, and with 1 if
                       that can't be told. With -prune, what isn't needed counts, too.

  -o FILE.tar          Leave the directory as it is, and write one archive with all
                       of this. The same content makes the same archive, byte for
                       byte. The configuration isn't in it.

  -unpack=FILE.tar     Verify such an archive and unpack it into DIR, which is where
                       the configuration is; the default is the current directory.
                       If anything is wrong with it, or it has other packages
                       than are locked there, nothing changes.

  -json                Print a JSON object: packages, modules, what was changed and
                       removed; with -check up_to_date and reasons.

  -test-directory=DIR  Where test files are besides the working directory. The
                       default is "tests".

  -no-color            Print neither colours nor boxes. So does NO_COLOR.

  Accepted as by init: -var, -var-file.`

// Help is what "tfdeps vendor -help" prints.
func (c *VendorCommand) Help() string { return vendorUsage }
