package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nonRoot is the user and group of the image. Kubernetes can tell from the number alone
// that it is not root.
const nonRoot = 65532

const (
	programPath = "/usr/bin/traintravel"
	dataPath    = "/data"
)

// image makes a container image from nothing: the program, root certificates, a user that
// is not root, and the folder of its data, which is all that it needs to write.
func (r *build) image(b built) error {
	r.say("%s/%s: container image", b.goos, b.goarch)
	base, err := r.baseLayer()
	if err != nil {
		return err
	}
	program, err := r.programLayer(b)
	if err != nil {
		return err
	}
	at := v1.Time{Time: r.time}
	image, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		mutate.Addendum{Layer: base, History: v1.History{Created: at, CreatedBy: "packaging/release", Comment: "user, root certificates, folder for data"}},
		mutate.Addendum{Layer: program, History: v1.History{Created: at, CreatedBy: "packaging/release", Comment: "traintravel " + r.version}})
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.goos, b.goarch, at
	if b.goarch == "arm64" {
		config.Variant = "v8"
	}
	config.Config = r.runsAs()
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	return r.saveImage(image, *config.Platform())
}

// runsAs is how a container of the image is started, if nothing else is said.
func (r *build) runsAs() v1.Config {
	return v1.Config{
		User:         "65532:65532",
		WorkingDir:   dataPath, // where the data file is, unless --data or --postgres say otherwise
		Volumes:      map[string]struct{}{dataPath: {}},
		Env:          []string{"PATH=/usr/bin", "TRAINTRAVEL_ADDR=:8080"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Entrypoint:   []string{programPath},
		Cmd:          []string{"serve"},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test:        []string{"CMD", programPath, "health"},
			Interval:    15 * time.Second,
			Timeout:     10 * time.Second,
			StartPeriod: 2 * time.Minute, // a large timetable takes a while
			Retries:     3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":         "traintravel",
			"org.opencontainers.image.description":   "Train search, booking and payment over HTTP",
			"org.opencontainers.image.version":       r.version,
			"org.opencontainers.image.created":       r.time.Format(time.RFC3339),
			"org.opencontainers.image.licenses":      "Apache-2.0",
			"org.opencontainers.image.url":           homepage,
			"org.opencontainers.image.source":        homepage,
			"org.opencontainers.image.documentation": homepage + "/blob/main/docs/operations.md",
		},
	}
}

const homepage = "https://github.com/traintravel/traintravel"

// An entry is a file or folder of a layer.
type entry struct {
	name  string // a folder's ends with a slash
	mode  int64
	owner int
	text  []byte
}

func folder(name string) entry { return entry{name: name + "/", mode: 0o755} }

// baseLayer is what changes rarely, and so is fetched and stored once for many versions.
func (r *build) baseLayer() (v1.Layer, error) {
	roots, err := rootCertificates()
	if err != nil {
		return nil, err
	}
	return r.layer([]entry{
		{name: "data/", mode: 0o700, owner: nonRoot},
		folder("etc"),
		{name: "etc/group", mode: 0o644, text: []byte("root:x:0:\ntraintravel:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, text: []byte("root:x:0:0:root:/:/sbin/nologin\ntraintravel:x:65532:65532:traintravel:/data:/sbin/nologin\n")},
		folder("etc/ssl"),
		folder("etc/ssl/certs"),
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: roots},
		{name: "tmp/", mode: 0o1777},
		folder("usr"),
		folder("usr/bin"),
		folder("usr/share"),
		folder("usr/share/doc"),
		folder("usr/share/doc/ca-certificates"),
		{name: "usr/share/doc/ca-certificates/copyright", mode: 0o644, text: []byte(rootsNotice)},
	})
}

// programLayer is what each version has anew.
func (r *build) programLayer(b built) (v1.Layer, error) {
	program, err := os.ReadFile(b.program)
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	licences, err := os.ReadFile(b.licences)
	if err != nil {
		return nil, err
	}
	return r.layer([]entry{
		folder("usr"),
		folder("usr/bin"),
		{name: programPath[1:], mode: 0o755, text: program},
		folder("usr/share"),
		folder("usr/share/doc"),
		folder("usr/share/doc/traintravel"),
		{name: "usr/share/doc/traintravel/copyright", mode: 0o644, text: licence},
		{name: "usr/share/doc/traintravel/LICENSES.txt", mode: 0o644, text: licences},
	})
}

// layer packs files. Nothing of this machine is in it.
func (r *build) layer(list []entry) (v1.Layer, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, e := range list {
		kind := byte(tar.TypeReg)
		if e.name[len(e.name)-1] == '/' {
			kind = tar.TypeDir
		}
		head := tar.Header{
			Typeflag: kind, Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner,
			Size: int64(len(e.text)), ModTime: r.time, Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(&head); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}
