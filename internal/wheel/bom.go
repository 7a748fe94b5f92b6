package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"halfnote/install/wheel"
	"halfnote/internal/release"
)

// bom is a bill of materials in the form of CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). It has neither a time nor a
// serial number, so that equal programs have equal bills.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string      `json:"type"`
	Ref        string      `json:"bom-ref"`
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Hashes     []hash      `json:"hashes,omitempty"`
	PURL       string      `json:"purl,omitempty"` // see https://github.com/package-url/purl-spec
	References []reference `json:"externalReferences,omitempty"`
	Properties []property  `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type reference struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// bomName is the name of the bill in the wheel's folder sboms, which PEP 770 is about.
const bomName = "halfnote.cdx.json"

// bill returns the bill of materials of a program: the modules and the settings of its build that the program itself has,
// and Go. Licences are files of the wheel. compiler reports whether the program carries the compiler of its cells.
func bill(program []byte, licenses []wheel.File, compiler bool) (bom, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return bom{}, fmt.Errorf("the build information of the program: %w", err)
	}
	own := component{
		Type: "application", Ref: "halfnote", Name: "halfnote", Version: release.Version, Hashes: []hash{{"SHA-256", sum(program)}},
		References: terms(licenses, info, info.Main.Path), Properties: []property{{"go:version", info.GoVersion}},
	}
	for _, s := range info.Settings {
		own.Properties = append(own.Properties, property{"go:build:" + s.Key, s.Value})
	}
	b := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{own}}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	b.Components = append(b.Components, component{
		Type: "library", Ref: "std", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + goVersion, References: terms(licenses, info, "go"),
	})
	if compiler {
		b.Components = append(b.Components, component{
			Type: "application", Ref: "cmd/compile", Name: "cmd/compile", Version: info.GoVersion, PURL: "pkg:golang/cmd/compile@" + goVersion, References: terms(licenses, info, "go"),
		})
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return bom{}, fmt.Errorf("the module %s is replaced by %s: a release is built from modules as they are published", m.Path, m.Replace.Path)
		}
		b.Components = append(b.Components, component{
			Type: "library", Ref: m.Path, Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version,
			References: terms(licenses, info, m.Path), Properties: []property{{"go:sum", m.Sum}},
		})
	}
	return b, nil
}

// terms returns the licences and notices of a module, by their paths from the folder of the bill. A file belongs to the module
// with the longest path that it lies below.
func terms(licenses []wheel.File, info *debug.BuildInfo, module string) (list []reference) {
	for _, f := range licenses {
		if !strings.HasPrefix(f.Name, module+"/") {
			continue
		}
		inner := false
		for _, m := range info.Deps {
			inner = inner || len(m.Path) > len(module) && strings.HasPrefix(f.Name, m.Path+"/")
		}
		if !inner {
			list = append(list, reference{"license", "../licenses/" + f.Name})
		}
	}
	return list
}

// statement is an in-toto statement (https://github.com/in-toto/attestation/tree/main/spec/v1): what the predicate says holds for
// the files with these checksums. It is not signed; the publisher of a wheel can do that.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     bom       `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// attest returns the statement that a file is a wheel with the parts of the bill.
func attest(name string, archive []byte, b bom) statement {
	return statement{
		Type: "https://in-toto.io/Statement/v1", Subject: []subject{{name, map[string]string{"sha256": sum(archive)}}},
		PredicateType: "https://cyclonedx.org/bom", Predicate: b,
	}
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// pretty returns a value as indented JSON.
func pretty(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}
