package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials returns a CycloneDX document: the program with its checksum, and its modules. It is reproducible, because the serial number
// is made from the commit and the platform, and the time is the commit's.
func billOfMaterials(s source, p platform, program []byte, parts []part) ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = serialNumber(s.commit + " " + s.version + " " + p.String())
	self := component("github.com/tfdeps/tfdeps", s.version, cyclonedx.ComponentTypeApplication)
	self.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}
	self.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(program))}}
	self.Properties = &[]cyclonedx.Property{{Name: "tfdeps:commit", Value: s.commit}, {Name: "tfdeps:platform", Value: p.String()}}
	bom.Metadata = &cyclonedx.Metadata{Timestamp: s.time.Format(time.RFC3339), Component: &self}
	var components []cyclonedx.Component
	var refs []string
	for _, part := range parts {
		c := component(part.path, part.version, cyclonedx.ComponentTypeLibrary)
		c.Licenses = licenceChoices(part)
		if digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(part.sum, "h1:")); err == nil && len(digest) == sha256.Size {
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", digest)}}
		}
		components = append(components, c)
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	var b bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func component(path, version string, kind cyclonedx.ComponentType) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}

// licenceChoices returns a module's licences: one by its ID, several as one expression, because the format allows only one.
func licenceChoices(p part) *cyclonedx.Licenses {
	var ids []string
	for _, l := range p.licences {
		if l.id != "" {
			ids = append(ids, l.id)
		}
	}
	if expression := strings.Join(ids, " AND "); len(ids) > 1 || strings.Contains(expression, " ") {
		return &cyclonedx.Licenses{{Expression: expression}}
	}
	return &cyclonedx.Licenses{{License: &cyclonedx.License{ID: ids[0]}}}
}

// serialNumber returns a UUID of version 8, made from a name's SHA-256.
func serialNumber(name string) string {
	sum := sha256.Sum256([]byte(name))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
