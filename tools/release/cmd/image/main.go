// Image makes the container image of a release without a container engine: for every binary for Linux that goreleaser built, an image from
// scratch that has the binary, the certificates of public authorities and /tmp, and runs as nobody. The same binaries always make the same
// image.
//
//	image -dist DIR -version VERSION -time TIME -layout DIR
//	image -dist DIR -version VERSION -time TIME -push REPOSITORY -tag TAG[,TAG…]
//
// It prints the digest of the index, which has one image per platform.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// options are the flags.
type options struct {
	dist, version, time, layout, push, tags string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.dist, "dist", "dist", "the folder that goreleaser filled, in the repository")
	flag.StringVar(&o.version, "version", "", "the version, for the labels")
	flag.StringVar(&o.time, "time", "", "the time of the commit, as git log -1 --format=%cI prints it")
	flag.StringVar(&o.layout, "layout", "", "write the image to this folder, in OCI's layout")
	flag.StringVar(&o.push, "push", "", "push the image to this repository, with the logins of docker's configuration")
	flag.StringVar(&o.tags, "tag", "", "the tags of the pushed image, separated by commas")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		log.Fatalf("image: %v", err)
	}
}

// run makes the image and writes it to where the flags say.
func run(ctx context.Context, o options) error {
	if o.version == "" || (o.layout == "") == (o.push == "") || (o.push == "") != (o.tags == "") || flag.NArg() > 0 {
		return errors.New("-version, and either -layout or both -push and -tag are needed")
	}
	built, err := read(o.dist)
	if err != nil {
		return err
	}
	if built.time, err = time.Parse(time.RFC3339, o.time); err != nil {
		return err
	}
	var licences []file
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(o.dist), name))
		if err != nil {
			return err
		}
		licences = append(licences, file{"usr/share/licenses/helmdrift/" + name, 0o644, text})
	}
	index, err := index(built, o.version, licences)
	if err != nil {
		return err
	}
	if o.layout != "" {
		if err := writeLayout(o.layout, index); err != nil {
			return err
		}
	} else if err := push(ctx, index, o.push, strings.Split(o.tags, ",")); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err == nil {
		fmt.Println(digest)
	}
	return err
}

// writeLayout writes the image to a new folder.
func writeLayout(dir string, index v1.ImageIndex) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index)
}

// push pushes the image under every tag.
func push(ctx context.Context, index v1.ImageIndex, repository string, tags []string) error {
	for _, tag := range tags {
		ref, err := name.NewTag(repository + ":" + tag)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(ref, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return err
		}
	}
	return nil
}

// release is what goreleaser wrote about a release: the commit, and the binaries for Linux by architecture.
type release struct {
	commit   string
	time     time.Time
	binaries map[string]string
}

// read reads what goreleaser wrote. The paths in its list are relative to the folder above dist.
func read(dist string) (release, error) {
	var metadata struct{ Commit string }
	var artifacts []struct{ Path, Goos, Goarch, Type string }
	if err := errors.Join(
		readJSON(filepath.Join(dist, "metadata.json"), &metadata),
		readJSON(filepath.Join(dist, "artifacts.json"), &artifacts),
	); err != nil {
		return release{}, err
	}
	r := release{commit: metadata.Commit, binaries: map[string]string{}}
	for _, a := range artifacts {
		if a.Type == "Binary" && a.Goos == "linux" {
			r.binaries[a.Goarch] = filepath.Join(filepath.Dir(dist), a.Path)
		}
	}
	if len(r.binaries) == 0 {
		return release{}, fmt.Errorf("%s has no binary for Linux", dist)
	}
	return r, nil
}

func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
