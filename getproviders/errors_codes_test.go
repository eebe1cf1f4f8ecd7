package getproviders

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// codes are the error codes of each package of the engine; "" means that the code is the cause's.
// They don't change.
var codes = map[string][]string{
	"filelock.HeldError":          {"file_lock_held"},
	"getproviders.NotCachedError": {"not_cached"},
	"getproviders.SourcesError":   {"", "provider_not_found"},
	"hosts.StatusError":           {"package_not_found", "rate_limited", "server_failed", "unauthorized", "unreachable"},
	"getproviders.Fault":          {"bucket", "checksum_list_mismatch", "checksum_mismatch", "connection_refused", "credentials_helper_not_found", "discovery_document", "host_not_found", "incompatible_protocol", "invalid_address", "invalid_answer", "invalid_module_source", "invalid_package", "invalid_signature", "lock_mismatch", "locked_version", "mirror_index", "module_not_found", "module_package_not_found", "no_matching_version", "no_module_version", "no_service", "no_space", "not_https", "offline", "platform_missing", "provider_not_found", "proxy_failed", "refused_by_policy", "request_failed", "service_version", "source_directory", "stalled", "timeout", "too_large", "too_slow", "unauthorized", "unknown_signer", "unreachable", "untrusted_certificate", "unwritable", "version_not_found"},
	"scratch.LinkError":           {"symlink"},
}

// withoutCode are errors that are always wrapped by one with a code.
var withoutCode = []string{"googlestorage.AnswerError", "modules.StepError", "disk.RoomError", "cause.LockedVersionError", "cause.NoVersionError"}

// TestCodes_AreThoseOfTheTable reads the source of the engine: every exported error has a method
// Code that returns the table's code, and each Fault has one of its codes.
func TestCodes_AreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	found, errs := map[string][]string{}, []string{}
	for _, root := range []string{".", "../providercache", "../configs", "../depsfile", "../internal"} {
		must.Succeed(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				collectCodes(file, found, &errs)
			}
			return err
		}))
	}
	slices.Sort(found["getproviders.Fault"])
	found["getproviders.Fault"] = slices.Compact(found["getproviders.Fault"])
	for name, want := range codes {
		must.EqualSlices(t, found[name], want)
	}
	for _, name := range errs {
		if _, listed := codes[name]; !listed && !slices.Contains(withoutCode, name) {
			t.Errorf("%s has no code in the table; its method has %q", name, found[name])
		}
	}
}

// collectCodes finds the exported errors of a file, and the results of their methods Code.
func collectCodes(file *ast.File, found map[string][]string, errs *[]string) {
	found["getproviders.Fault"] = append(found["getproviders.Fault"], ofFaults(file)...)
	for _, decl := range file.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Recv == nil || method.Body == nil {
			continue
		}
		pointer, ok := method.Recv.List[0].Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		receiver, ok := pointer.X.(*ast.Ident)
		if !ok || !receiver.IsExported() || !strings.HasSuffix(receiver.Name, "Error") {
			continue
		}
		name := file.Name.Name + "." + receiver.Name
		if method.Name.Name == "Error" {
			*errs = append(*errs, name)
		}
		if strings.EqualFold(method.Name.Name, "Code") {
			found[name] = returned(method.Body)
			slices.Sort(found[name])
		}
	}
}

// ofFaults returns the codes of the Faults in a file.
func ofFaults(file *ast.File) (all []string) {
	add := func(field, value ast.Expr) {
		if literal, ok := value.(*ast.BasicLit); ok {
			if name, ok := field.(*ast.Ident); ok && (name.Name == "Code" || name.Name == "ID") { // hosts.Fault has a method Code
				all = append(all, strings.Trim(literal.Value, `"`))
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for _, element := range n.Elts {
				if field, ok := element.(*ast.KeyValueExpr); ok && n.Type != nil && strings.HasSuffix(types.ExprString(n.Type), "Fault") {
					add(field.Key, field.Value)
				}
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if field, ok := to.(*ast.SelectorExpr); ok && i < len(n.Rhs) {
					add(field.Sel, n.Rhs[i])
				}
			}
		}
		return true
	})
	return all
}

// returned returns the constants that a method Code returns, sorted, and "" if it returns anything
// else.
func returned(body *ast.BlockStmt) (all []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		result, ok := n.(*ast.ReturnStmt)
		if !ok {
			return true
		}
		code := ""
		ast.Inspect(result.Results[0], func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && literal.Value != `"-"` && literal.Value != `"_"` {
				code = strings.Trim(literal.Value, `"`)
			}
			return true
		})
		if _, call := result.Results[0].(*ast.CallExpr); call && code != "" {
			all = append(all, "")
		}
		all = append(all, code)
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}
