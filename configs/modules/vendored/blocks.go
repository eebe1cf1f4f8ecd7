package vendored

// Ignores is the block for .gitignore of the working directory. Lines that name
// a directory are there because git looks at nothing below one that is ignored.
func Ignores() Block {
	return Block{
		Why: "What is vendored belongs into the repository.",
		Lines: []string{
			"!/.terraform/",
			"/.terraform/*",
			"!/.terraform/modules/",
			"!/.terraform/modules/**",
			"/.terraform/modules/.tfdeps-*",
			"!/terraform.d/",
			"!/terraform.d/vendor.json",
			"!/terraform.d/plugins/",
			"!/terraform.d/plugins/**",
			"/terraform.d/plugins/.tfdeps-*",
			"!/.terraform.lock.hcl",
			"!/.gitattributes",
			"!/.gitignore",
		},
	}
}

// asItIs are the attributes of files whose bytes must not change between a
// repository and a clone. The encoding can't be unset, only left unspecified.
const asItIs = " -text !eol !ident !working-tree-encoding"

// Attributes is the block for .gitattributes of the working directory. With lfs,
// archives of providers are kept by git LFS. It says nothing else of filters: if
// the user has some for all files, these are for vendored ones too.
func Attributes(lfs bool) Block {
	b := Block{
		Why: "What is vendored stays byte for byte what it is.",
		Lines: []string{
			"/.terraform/modules/**" + asItIs,
			"/terraform.d/vendor.json" + asItIs,
			"/terraform.d/plugins/**" + asItIs,
		},
	}
	if lfs {
		b.Lines = append(b.Lines, "/terraform.d/plugins/** filter=lfs diff=lfs merge=lfs")
	}
	return b
}

// The blocks for files in modules, of which git reads only what is in their own
// directory and below.
func ignoresNothing() Block {
	return Block{Why: "The module is vendored, with all its files.", Lines: []string{"!*"}}
}

func changesNothing() Block {
	return Block{Why: "The module is vendored as it is.", Lines: []string{"*" + asItIs + " !filter"}}
}
