// Package git checks out the tree of a commit into a directory, and caches bare repositories.
//
// [Repositories.Checkout] does the work:
//
//	repositories := &git.Repositories{Dir: "/home/u/.cache/tfdeps/git", Environ: environ}
//	defer repositories.Close()
//	commit, err := repositories.Checkout(ctx, git.Request{URL: "https://example.com/net.git", Ref: "v1.2.0"}, dst)
//
// The program git does everything, with the user's credentials, proxies and rewritten URLs. It is
// started as seldom as possible, and never by a shell.
//
// # Requests to repositories
//
//  1. A full commit ID in the store needs no request.
//  2. Any other ref needs one git ls-remote for each URL and Repositories value,
//     however many refs and callers. The commit is fetched alone, without its
//     history, if the store doesn't have it. Concurrent requests that know each
//     other, see [Request], share one fetch.
//  3. All branches and tags are fetched, with their history, if the server refuses
//     single commits, and for expressions that no list of refs can resolve:
//     abbreviated commits, or v1.2.0~2. They are fetched again only after the list
//     has changed.
//
// Nothing is removed from the store; it may be removed when no program uses it.
//
// The depth in a source doesn't change what is fetched. It changes which ref is meant: see
// [Request].
//
// A hundred checkouts of one commit start git a hundred times, concurrently unless the caller
// limits them: a caller that needs a tree often should check it out once and copy it.
//
// # Guarantees
//
//   - The directory is complete or absent. It has submodules at the commits that
//     the tree records, and no .git. Files have the same bytes as in the repository
//     on every system, unless a filter of the user's configuration, such as LFS,
//     changes them.
//   - Many goroutines may use a Repositories value, and many processes on one file
//     system its directory. A process may be killed at any time: the next one
//     removes or overwrites what it leaves. Its directories beside the destination
//     begin with ".tfdeps-git-"; the caller removes them. A damaged store is
//     detected when it is read, and created again.
//   - Cancelling the context ends git and the programs that it started.
//   - git reads only settings of a store that this package writes. A store that
//     other users can write to isn't used.
//   - The URL, the ref and the tree aren't trusted: none can become
//     an option, a command or another transport, and no file is written outside
//     the directory. Hooks never run.
//   - Neither errors nor the store contain the login of a URL.
//
// # What it refuses to do
//
// It reads no configuration, copies nothing and knows nothing of modules. It never prompts: git and
// ssh run without a terminal. Logins must come from agents, credential helpers and key files.
package git
