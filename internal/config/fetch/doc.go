// Package fetch fetches module packages from their addresses:
//
//	fetcher := &fetch.Fetcher{Client: client, Environ: os.Environ()}
//	defer fetcher.Close()
//	_, err := fetcher.Fetch(ctx, modules.FetchRequest{Package: "https://example.com/net.tar.gz"}, dir)
//
// A [Fetcher] fetches packages for package modules, and can be used alone to read the files of a
// module: it writes dir, and nothing named .terraform.
//
// # Addresses
//
//  1. An archive, by its suffix or by "?archive=tar.gz": zip, tar.gz, tgz, tar.bz2,
//     tar.tbz2, tbz2, tar.xz and txz, at http, https, s3, gcs, file and in
//     repositories. "?archive=false" means that it is none. With
//     "?checksum=KIND:HEX" (md5, sha1, sha256, sha512; the kind is optional), or
//     "?checksum=file:URL" for a list, the archive must have that checksum.
//  2. Another http or https URL. It is requested with "?terraform-get=1", and the
//     answer has the package's address: in the header X-Terraform-Get or in
//     <meta name="terraform-get" content="ADDRESS"> in the head of a page. Up to 10
//     such answers are followed. If the address has a directory after "//", which
//     can be a pattern, that directory is the package.
//  3. A git repository, "git::URL", with ref, depth and sshkey; see package git.
//     Concurrent requests for one repository share a fetch.
//  4. A Mercurial repository, "hg::URL", with rev.
//  5. A prefix of objects, "s3::URL" or "gcs::URL"; see package bucket.
//  6. A package in an OCI registry, oci://HOST/REPOSITORY with ?tag= or ?digest=, if [Fetcher].OCI is set.
//  7. A directory of this machine, "file:///DIR".
//
// # The store
//
// A store keeps archives by their SHA-256. The next run requests an archive conditionally, by ETag
// or Last-Modified, so that an unchanged one isn't sent again. No request is made if the request
// has a pin and the store has its package. Repositories are in the store as in package git. No
// login and no signed URL is written to the store.
//
// # Guarantees
//
//   - The destination is complete or absent.
//   - Sizes that a server announces are never trusted: an archive has at most 4 GiB,
//     and unpacked 8 GiB and 100,000 files; the objects of a prefix have at most
//     4 GiB together and are at most 100,000.
//   - No entry of an archive is written outside of the destination. Unpacked
//     archives have no symlinks, hard links or devices, and only their owner can
//     write to their files. Symlinks of a repository stay.
//   - No part of an address becomes a program's option. Servers can't
//     lead to files of this machine.
//   - Errors contain neither logins nor values of queries, except refs and the like.
//   - Many processes may use one store. A file whose content doesn't match its
//     name is fetched again.
//   - When the context ends, so do requests and programs, and Fetch returns. An
//     archive that is being unpacked is unpacked completely, and then removed.
//
// It never looks for modules in a package: its caller handles the subdirectories of addresses.
package fetch
