package providertest

import (
	"fmt"
	"net/http"
	"strings"
)

func (r *Registry) handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(kind, pattern string, find func(req *http.Request) answer) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) { r.answer(w, req, kind, find) })
	}
	handle("discovery", "/.well-known/terraform.json", func(*http.Request) answer {
		return document(typeJSON, discoveryDocument())
	})
	handle("versions", servicePath+"{namespace}/{type}/versions", r.versions)
	handle("package", servicePath+"{namespace}/{type}/{version}/download/{os}/{arch}", r.describe)
	mux.HandleFunc(filesPath+"{namespace}/{type}/{version}/{file}", func(w http.ResponseWriter, req *http.Request) {
		r.answer(w, req, fileKind(req.PathValue("file")), r.file)
	})
	r.handleModules(mux)
	handle("other", "/", func(*http.Request) answer { return answer{} })
	return mux
}

func fileKind(name string) string {
	switch {
	case strings.HasSuffix(name, "_SHA256SUMS"):
		return "sums"
	case strings.HasSuffix(name, "_SHA256SUMS.sig"):
		return "signature"
	default:
		return "archive"
	}
}

func (r *Registry) versions(req *http.Request) answer {
	packages := r.provider("", req.PathValue("namespace"), req.PathValue("type"))
	if len(packages) == 0 {
		return answer{}
	}
	return document(typeJSON, versionsDocument(packages))
}

func (r *Registry) describe(req *http.Request) answer {
	packages := r.versionOf(req)
	for _, p := range packages {
		if p.Platform.OS == req.PathValue("os") && p.Platform.Arch == req.PathValue("arch") {
			return document(typeJSON, r.packageDocument(p, packages))
		}
	}
	return answer{}
}

func (r *Registry) file(req *http.Request) answer {
	packages := r.versionOf(req)
	name := req.PathValue("file")
	for _, p := range packages {
		switch name {
		case p.sumsName():
			return document(typeText, r.sumsDocument(packages))
		case p.sumsName() + ".sig":
			return document(typeBinary, r.signerOf(packages).Sign(r.sumsDocument(packages)))
		case p.archiveName():
			return archiveAnswer(p)
		}
	}
	return answer{}
}

func (r *Registry) versionOf(req *http.Request) []servedPackage {
	return r.version("", req.PathValue("namespace"), req.PathValue("type"), req.PathValue("version"))
}

func archiveAnswer(p servedPackage) answer {
	archive, done, err := p.open()
	if err != nil {
		return answer{}
	}
	return answer{contentType: typeZip, etag: fmt.Sprintf(`"%x"`, p.sha256), body: archive, done: done}
}
