package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unpack reads the files of a tar by name, with their headers.
func unpack(t *testing.T, text []byte) (map[string][]byte, map[string]*tar.Header) {
	t.Helper()
	files, heads := map[string][]byte{}, map[string]*tar.Header{}
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		head, err := r.Next()
		if err == io.EOF {
			return files, heads
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[head.Name], heads[head.Name] = body, head
	}
}

func unzip(t *testing.T, text []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	text, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// sampleImage makes the image of a program that is a text.
func sampleImage(t *testing.T, version string) (name string, text []byte) {
	t.Helper()
	dir := t.TempDir()
	b := built{"linux", "arm64", filepath.Join(dir, "traintravel"), filepath.Join(dir, "LICENSES.txt")}
	for _, f := range []string{b.program, b.licences} {
		if err := os.WriteFile(f, []byte(filepath.Base(f)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := build{options: options{out: t.TempDir(), version: version}, time: time.Unix(1700000000, 0).UTC(), began: time.Now()}
	if err := r.image(b); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(r.out)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	text, err = os.ReadFile(filepath.Join(r.out, list[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	return list[0].Name(), text
}

// The image has the same bytes each time. Each blob has the hash in its name, both lists of
// contents name the same layers, and the program does not run as root.
func TestImage(t *testing.T) {
	t.Chdir("../..") // it packs LICENSE
	name, text := sampleImage(t, "1.2.3")
	if _, again := sampleImage(t, "1.2.3"); !bytes.Equal(text, again) {
		t.Error("the image differs the second time")
	}
	if name != "traintravel_1.2.3_linux_arm64.image.tar" {
		t.Error(name)
	}
	files, _ := unpack(t, text)
	for path, body := range files {
		if hash, ok := strings.CutPrefix(path, "blobs/sha256/"); ok && hash != "" && hash != fmt.Sprintf("%x", sha256.Sum256(body)) {
			t.Errorf("%s has the wrong name", path)
		}
	}
	type descriptor struct {
		MediaType, Digest string
		Size              int
		Platform          map[string]string
		Annotations       map[string]string
	}
	blob := func(d descriptor) []byte {
		body := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if len(body) == 0 || len(body) != d.Size {
			t.Fatalf("%+v has %d bytes", d, len(body))
		}
		return body
	}
	var index struct{ Manifests []descriptor }
	decode(t, files["index.json"], &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform["architecture"] != "arm64" || index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("%+v", index)
	}
	var manifest struct {
		MediaType string
		Config    descriptor
		Layers    []descriptor
	}
	decode(t, blob(index.Manifests[0]), &manifest)
	if manifest.MediaType != "application/vnd.oci.image.manifest.v1+json" || len(manifest.Layers) != 2 || manifest.Layers[0].MediaType != "application/vnd.oci.image.layer.v1.tar+gzip" {
		t.Fatalf("%+v", manifest)
	}
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	decode(t, files["manifest.json"], &docker)
	if len(docker) != 1 || len(docker[0].Layers) != 2 || !strings.HasSuffix(manifest.Layers[1].Digest, filepath.Base(docker[0].Layers[1])) || docker[0].RepoTags[0] != "traintravel:1.2.3" {
		t.Errorf("%+v", docker)
	}
	var config struct {
		Architecture, OS, Created string
		Config                    struct {
			User, WorkingDir string
			Entrypoint, Cmd  []string
			Healthcheck      struct{ Test []string }
			Volumes          map[string]any
			Labels           map[string]string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(t, blob(manifest.Config), &config)
	if c := config.Config; config.Architecture != "arm64" || config.Created != "2023-11-14T22:13:20Z" || c.User != "65532:65532" || c.WorkingDir != "/data" || c.Volumes["/data"] == nil ||
		strings.Join(append(c.Entrypoint, c.Cmd...), " ") != "/usr/bin/traintravel serve" || strings.Join(c.Healthcheck.Test, " ") != "CMD /usr/bin/traintravel health" || c.Labels["org.opencontainers.image.version"] != "1.2.3" {
		t.Errorf("%+v", config)
	}
	for i, l := range manifest.Layers {
		if id := fmt.Sprintf("sha256:%x", sha256.Sum256(unzip(t, blob(l)))); config.RootFS.DiffIDs[i] != id {
			t.Errorf("layer %d: %s, want %s", i, config.RootFS.DiffIDs[i], id)
		}
	}
	checkBase(t, unzip(t, blob(manifest.Layers[0])))
	program, heads := unpack(t, unzip(t, blob(manifest.Layers[1])))
	if h := heads["usr/bin/traintravel"]; h == nil || h.Mode != 0o755 || h.Uid != 0 || string(program["usr/bin/traintravel"]) != "traintravel" || len(program["usr/share/doc/traintravel/copyright"]) < 1000 {
		t.Errorf("%+v", h)
	}
}

// checkBase checks the layer that has no program: its user owns the folder of the data and
// nothing else, and a certificate pool takes each of its roots.
func checkBase(t *testing.T, text []byte) {
	t.Helper()
	base, heads := unpack(t, text)
	for name, h := range heads {
		data := name == "data/"
		if (h.Uid == 65532) != data || (h.Mode == 0o700) != data || h.Mode&0o022 != 0 && name != "tmp/" || !h.ModTime.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s: %+v", name, h)
		}
		if dir := filepath.Dir(strings.TrimSuffix(name, "/")); dir != "." && heads[dir+"/"] == nil {
			t.Errorf("%s is in a folder that the layer does not have", name)
		}
	}
	if heads["data/"] == nil || !strings.Contains(string(base["etc/passwd"]), "\ntraintravel:x:65532:65532:") {
		t.Errorf("%s", base["etc/passwd"])
	}
	roots, n := base["etc/ssl/certs/ca-certificates.crt"], 0
	for block, rest := pem.Decode(roots); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err != nil || !c.IsCA {
			t.Errorf("root %d: %v", n, err)
		}
		n++
	}
	if n < 100 {
		t.Errorf("%d roots", n)
	}
}

// Another version shares the layer without the program.
func TestImageLayersAreShared(t *testing.T) {
	t.Chdir("../..")
	_, one := sampleImage(t, "1.2.3")
	_, two := sampleImage(t, "1.2.4")
	a, _ := unpack(t, one)
	b, _ := unpack(t, two)
	shared := 0
	for name := range a {
		if _, ok := b[name]; ok && strings.HasPrefix(name, "blobs/sha256/") && name != "blobs/sha256/" {
			shared++
		}
	}
	if shared != 2 { // here the program is the same, too
		t.Errorf("%d blobs are shared", shared)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]options{
		`-formats: "rpm" is not one of`:   {targets: []string{"linux/amd64"}, formats: []string{"rpm"}},
		`-targets: "linux" is not`:        {targets: []string{"linux"}, formats: []string{"deb"}},
		`windows/amd64 has only archives`: {targets: []string{"windows/amd64"}, formats: []string{"deb"}},
		`"v1" is not a version such as 1`: {version: "v1", targets: []string{"here"}, formats: []string{"deb"}},
	} {
		err := o.check()
		if err == nil {
			_, err = newBuild(o)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
