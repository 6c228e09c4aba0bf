package main

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// saveImage writes an image as one file that every tool loads: an OCI image layout, and
// beside it the manifest.json by which Docker before version 25 finds the same blobs.
func (r *build) saveImage(image v1.Image, platform v1.Platform) error {
	name := "traintravel:" + r.version
	blobs, manifest, err := blobsOf(image)
	if err != nil {
		return err
	}
	manifest.Platform, manifest.ArtifactType = &platform, ""
	manifest.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          "docker.io/library/" + name,
	}
	index, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{*manifest}})
	if err != nil {
		return err
	}
	loaded, err := image.Manifest()
	if err != nil {
		return err
	}
	docker := struct {
		Config           string
		RepoTags, Layers []string
	}{Config: blobPath(loaded.Config.Digest), RepoTags: []string{name}}
	for _, l := range loaded.Layers {
		docker.Layers = append(docker.Layers, blobPath(l.Digest))
	}
	list, err := json.Marshal([]any{docker})
	if err != nil {
		return err
	}
	blobs["index.json"], blobs["manifest.json"] = index, list
	blobs["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	return r.archive(fmt.Sprintf("traintravel_%s_%s_%s.image.tar", r.version, platform.OS, platform.Architecture), func(w io.Writer) error {
		return r.writeLayout(w, blobs)
	})
}

// writeLayout packs the files of a layout, in order of their names.
func (r *build) writeLayout(w io.Writer, files map[string][]byte) error {
	t := tar.NewWriter(w)
	for _, dir := range []string{"blobs/", "blobs/sha256/"} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: r.time, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		head := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&head); err != nil {
			return err
		}
		if _, err := t.Write(files[name]); err != nil {
			return err
		}
	}
	return t.Close()
}

func blobPath(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }

// blobsOf are an image's manifest, configuration and layers by path, and what describes
// the manifest.
func blobsOf(image v1.Image) (map[string][]byte, *v1.Descriptor, error) {
	manifest, err := partial.Descriptor(image)
	if err != nil {
		return nil, nil, err
	}
	text, err := image.RawManifest()
	if err != nil {
		return nil, nil, err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return nil, nil, err
	}
	name, err := image.ConfigName()
	if err != nil {
		return nil, nil, err
	}
	blobs := map[string][]byte{blobPath(manifest.Digest): text, blobPath(name): config}
	layers, err := image.Layers()
	if err != nil {
		return nil, nil, err
	}
	for _, l := range layers {
		hash, err := l.Digest()
		if err != nil {
			return nil, nil, err
		}
		packed, err := l.Compressed()
		if err != nil {
			return nil, nil, err
		}
		if blobs[blobPath(hash)], err = io.ReadAll(packed); err != nil {
			return nil, nil, err
		}
		if err := packed.Close(); err != nil {
			return nil, nil, err
		}
	}
	return blobs, manifest, nil
}
