// Package git brings the tree of a commit into a directory, through bare
// repositories that it keeps.
//
// [Repositories.Checkout] is all there is to it:
//
//	repositories := &git.Repositories{Dir: "/home/u/.cache/tfdeps/git", Environ: environ}
//	defer repositories.Close()
//	commit, err := repositories.Checkout(ctx, git.Request{URL: "https://example.com/net.git", Ref: "v1.2.0"}, dst)
//
// Everything is done by the program git, which has the user's credentials,
// proxies and rewritten URLs. It is started as seldom as possible, and never by
// a shell.
//
// # What is asked of a repository, and what isn't
//
//  1. A full commit ID that is in the store asks for nothing.
//  2. Any other ref costs one git ls-remote for each URL and Repositories value,
//     whatever the number of refs and of callers. What it names is fetched if
//     the store hasn't got it: that commit alone, without its history. What several
//     requests want that know of one another, see [Request], is one fetch.
//  3. All branches and tags are fetched, with their history, where the server
//     doesn't hand out single commits, and for what no list of refs can
//     answer: abbreviated commits, and expressions like v1.2.0~2. The next time they
//     are fetched only if the list has changed.
//
// Nothing is ever taken out of the store; it may be removed when no program uses it.
//
// The depth that a source asks for makes no difference to what is fetched.
// It does to which ref is meant: see [Request].
//
// A hundred checkouts of one commit start git a hundred times, and all at
// once if the caller does not bound them: who needs a tree often should check it
// out once and copy it.
//
// # Guarantees
//
//   - The directory is complete or absent. Submodules are in it, at the commits
//     that the tree records; there is no .git. Files have the bytes that they
//     have in the repository, on every system, unless a filter of the user's
//     set-up, such as that of LFS, makes something else of them.
//   - A Repositories value is safe for many goroutines, and its directory for
//     many processes on one file system. A process may be killed at any time:
//     what it leaves behind is swept or written over by the next one. What it has
//     left beside the destination begins with ".tfdeps-git-", and is for the
//     caller to remove. A damaged store is noticed when it is read, and made again.
//   - Cancelling the context ends git and what it has started.
//   - Of the settings in a store only those that this package writes count. A store that other
//     users can write to isn't used.
//   - The URL, the ref and the tree aren't trusted: none can become
//     an option, a command or another transport, and no file lands outside
//     the directory. Hooks never run.
//   - Errors and the store don't hold what a URL has for a login.
//
// # What it refuses to do
//
// It reads no configuration, copies nothing and knows nothing of modules. It
// asks no questions: git, and ssh below it, run without a terminal. Logins
// have to come from agents, credential helpers and key files.
package git
