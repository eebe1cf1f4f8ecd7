// Package fetch gets module packages from where their addresses say they are:
//
//	fetcher := &fetch.Fetcher{Client: client, Environ: os.Environ()}
//	defer fetcher.Close()
//	_, err := fetcher.Fetch(ctx, modules.FetchRequest{Package: "https://example.com/net.tar.gz"}, dir)
//
// A [Fetcher] is what package modules fetches with, and of use alone to read the
// files of a module: it writes dir, and nothing named .terraform.
//
// # What an address may be
//
//  1. An archive, by its suffix or by "?archive=tar.gz": zip, tar.gz, tgz, tar.bz2,
//     tar.tbz2, tbz2, tar.xz and txz, at http, https, s3, gcs, file and in
//     repositories. "?archive=false" says that it is none. With "?checksum=KIND:HEX"
//     (md5, sha1, sha256, sha512; the kind may be left out), or
//     "?checksum=file:URL" for a list of them, it has to be that one.
//  2. Another http or https URL. It is asked with "?terraform-get=1", and its answer
//     says where the package is: by the header X-Terraform-Get or by
//     <meta name="terraform-get" content="ADDRESS"> in the head of a page. Up to 10
//     such answers are followed. The directory that the address may name behind
//     "//", which can be a pattern, is the package then.
//  3. A git repository, "git::URL", with ref, depth and sshkey; see package git. What
//     requests that are made at the same time want of one is fetched together.
//  4. A Mercurial repository, "hg::URL", with rev.
//  5. A prefix of objects, "s3::URL" or "gcs::URL"; see package bucket.
//  6. A package in an OCI registry, oci://HOST/REPOSITORY with ?tag= or ?digest=, where [Fetcher].OCI is set.
//  7. A directory of this machine, "file:///DIR".
//
// # What is kept
//
// With a store, an archive is there by its SHA-256. The next run asks for it on the
// condition that it has changed, by ETag or Last-Modified, which
// costs no body. Nothing is asked for where the request has a pin and the
// store has what was fetched for it. Repositories are in the store as package
// git has them. No login, no signed URL is written there.
//
// # Guarantees
//
//   - The destination is complete or absent.
//   - What comes from a server is never trusted to have a size: an archive has
//     at most 4 GiB, and unpacked 8 GiB and 100 000 files; the objects of a prefix
//     have 4 GiB together and are 100 000 at most.
//   - Nothing in an archive can be written outside of the destination. It has no
//     symlinks, hard links or devices when it is unpacked; others can't write what
//     was in it. Symlinks of a repository stay.
//   - No part of an address becomes an option of a program. Servers can't
//     lead to files of this machine.
//   - Errors hold neither logins nor values of queries, except for refs and the like.
//   - One store may be used by many processes. A file in it that isn't what its name
//     says is fetched again.
//   - When the context ends, so do requests and programs, and Fetch returns.
//     An archive that is being unpacked then is unpacked to its end, and removed.
//
// It never looks for modules in a package: subdirectories of an address are its
// caller's business.
package fetch
