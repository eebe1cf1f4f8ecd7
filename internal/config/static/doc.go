// Package static evaluates expressions that must be known before modules are installed, such as the
// source of a module: those without references, and those that refer to constant input variables,
// local values and paths.
//
// [Parse] reads a file, and [Evaluate] computes an expression without references. A [Scope] has the
// variables and local values that a module's files declare; [Scope.Constant] computes an argument
// in it. Package configs does all of that; few other packages need this one.
//
// # References
//
// Source and version of a module may refer to local values and to variables with const = true; the
// source may also refer to path.module, path.root and path.cwd. References to other variables are
// errors. Sensitive and ephemeral values are refused, because sources are shown and recorded.
// OpenTofu allows references to all variables, also in the block of a backend; a variable is
// evaluated at its first use, so that mistakes in unused ones don't matter.
//
// # What it costs
//
// Evaluation takes time and memory in proportion to the files: every value is computed once, none
// may have more than a megabyte, and all that loops and functions of a module take and return is
// counted and limited; see limits.go. Syntax nested more than ten thousand levels deep, for which a
// parser would recurse, is an error before it is parsed.
//
// Package functions has all functions of Terraform. Paths of files are relative to the root
// module's directory. A foreign module can read only the files of its own package.
//
// # Unknown values
//
// A constant variable has its given value, converted to its type, or its default. A value that
// depends on another variable, or on anything else that only plan knows, is unknown, which is no
// problem by itself. Problems never show a value, and give no reason if sensitive values are
// involved.
package static
