// Package static evaluates what has to be known before modules are installed:
// expressions that refer to nothing, and those that refer to constant input
// variables, local values and paths, such as the source of a module.
//
// [Parse] reads a file, and [Evaluate] computes an expression that refers to
// nothing. A [Scope] is made of the variables and local values that the files of
// a module declare; [Scope.Constant] computes an argument in it. Package configs
// does all of that; few others need this package.
//
// # What may be referred to
//
// Source and version of a module may refer to local values and to variables
// whose block has const = true, the source to path.module, path.root and
// path.cwd as well. A variable that isn't constant must not be referred to.
// Sensitive and ephemeral values are refused, because sources are shown and
// recorded. In OpenTofu every variable may be referred to, in the block of a
// backend, too; a variable has a value when it is asked for, so that one which
// decides nothing may be wrong.
//
// # What it costs
//
// Computing takes time and memory in proportion to the files, whatever stands in them:
// every value is computed once, none may have more than a megabyte, and what
// loops and functions make in a module, and get, is counted and has an end; see
// limits.go. What would make a parser recurse more than ten thousand levels deep is
// an error before it is parsed.
//
// The functions are all that Terraform has, in package functions. Those that read
// files read them relative to the root module's directory. A module that comes
// from elsewhere reaches no files but those of its own package.
//
// # What is unknown
//
// A constant variable has the value that it is given, converted to its type, or its
// default. What depends on another variable, or on anything else that only a
// plan knows, is unknown, which is no problem by itself. Problems never show a
// value, and don't say why something can't be computed if sensitive values have
// a part in it.
package static
