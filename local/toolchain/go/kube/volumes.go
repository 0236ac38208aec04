package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/mount-utils"
)

// volumeKind says what a volume is on disk.
type volumeKind string

const (
	// directory is a plain folder on one node, as large as the disk below.
	directory volumeKind = "directory"
	// sized is a filesystem of its own in a file of the size asked for: it can be full, and it can grow.
	sized volumeKind = "sized"
	// shared is a plain folder that every node sees, as a network disk that follows its pod.
	shared volumeKind = "shared"
)

// kindAnnotation records a volume's kind on its object, as the class may be gone when the volume goes.
const kindAnnotation = "local-provisioner/kind"

// kindOf reads the parameters of a class. Anything it does not know is an error, not a plain directory.
func kindOf(class *storagev1.StorageClass) (volumeKind, error) {
	kind := directory
	for parameter, value := range class.Parameters {
		chosen := volumeKind(parameter)
		if (chosen != sized && chosen != shared) || (value != "true" && value != "false") {
			return "", fmt.Errorf("StorageClass %s: parameter %s=%q: only sized and shared are known, each true or false", class.Name, parameter, value)
		}
		if value == "false" {
			continue
		}
		if kind != directory {
			return "", fmt.Errorf("StorageClass %s: a volume is either sized or shared, not both", class.Name)
		}
		kind = chosen
	}
	return kind, nil
}

// volumeStore is the files of all volumes: <base>/<node>/<volume>, or <base>/shared/<volume>. A sized volume
// is the file <volume>.img there, mounted on <volume>; its data is in a folder inside of that filesystem, so
// that a pod can never write below a mount that is missing: the folder is then missing as well.
type volumeStore struct {
	base string
}

// mounts serialises what changes mounts, so that no filesystem is mounted twice.
var mounts sync.Mutex

const (
	dataFolder = "data"
	// smallestSupported is the size from which mkfs.xfs needs no word that smaller ones are at one's own risk
	// (its manual; the risk is one of speed). Tests of a full disk want small disks.
	smallestSupported = 300 << 20
	blockSize         = 4096
)

// create makes the files of a volume, or finishes a creation that was cut short, and returns the path that
// pods are given.
func (s volumeStore) create(kind volumeKind, node, name string, size int64) (string, error) {
	folder := node
	if kind == shared {
		folder = string(shared)
	}
	path := filepath.Join(s.base, folder, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	if kind == sized {
		if err := makeFilesystem(path+".img", size); err != nil {
			return "", err
		}
		if err := ensureMounted(path); err != nil {
			return "", err
		}
		path = filepath.Join(path, dataFolder)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return "", err
		}
	}
	// Pods of any user may write, as on a disk whose owner the kubelet has not set (a hostPath's it never sets).
	return path, os.Chmod(path, 0o777)
}

// grow makes a volume larger while it is in use. A plain directory is as large as its disk anyway.
func (s volumeStore) grow(volume *v1.PersistentVolume, size int64) error {
	mountPoint, err := s.sizedFolder(volume)
	if mountPoint == "" || err != nil {
		return err
	}
	if err := ensureMounted(mountPoint); err != nil {
		return err
	}
	image := mountPoint + ".img"
	info, err := os.Stat(image)
	if err != nil {
		return err
	}
	if rounded := roundUp(size); info.Size() < rounded {
		if err := os.Truncate(image, rounded); err != nil {
			return err
		}
	}
	devices, err := run("losetup", "--associated", image, "--noheadings", "--output", "NAME")
	if err != nil {
		return err
	}
	for _, device := range strings.Fields(devices) {
		if _, err := run("losetup", "--set-capacity", device); err != nil {
			return err
		}
	}
	_, err = run("xfs_growfs", mountPoint)
	return err
}

// restore mounts a sized volume that is not mounted.
func (s volumeStore) restore(volume *v1.PersistentVolume) error {
	mountPoint, err := s.sizedFolder(volume)
	if mountPoint == "" || err != nil {
		return err
	}
	return ensureMounted(mountPoint)
}

// remove deletes the files of a volume; what is gone already is not missed.
func (s volumeStore) remove(volume *v1.PersistentVolume) error {
	path, err := s.folder(volume)
	if err != nil {
		return err
	}
	if volumeKind(volume.Annotations[kindAnnotation]) == sized {
		if err := ensureUnmounted(path); err != nil {
			return err
		}
		if err := os.RemoveAll(path + ".img"); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}

// sizedFolder is where a sized volume is mounted; empty for the other kinds.
func (s volumeStore) sizedFolder(volume *v1.PersistentVolume) (string, error) {
	if volumeKind(volume.Annotations[kindAnnotation]) != sized {
		return "", nil
	}
	return s.folder(volume)
}

// folder is a volume's own folder. It must be <base>/<something>/<name of the volume>: nothing that an object
// in the cluster says makes this program touch files outside of its base.
func (s volumeStore) folder(volume *v1.PersistentVolume) (string, error) {
	path := ""
	switch {
	case volume.Spec.Local != nil:
		path = volume.Spec.Local.Path
	case volume.Spec.HostPath != nil:
		path = volume.Spec.HostPath.Path
	}
	if volumeKind(volume.Annotations[kindAnnotation]) == sized {
		path = filepath.Dir(path)
	}
	path = filepath.Clean(path)
	if filepath.Dir(filepath.Dir(path)) != s.base || filepath.Base(path) != volume.Name {
		return "", fmt.Errorf("volume %s: its path %q is not one of this provisioner's under %s", volume.Name, path, s.base)
	}
	return path, nil
}

// makeFilesystem makes the image unless it is there, whole.
func makeFilesystem(image string, size int64) error {
	if _, err := os.Stat(image); err == nil {
		return nil
	}
	partial := image + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	file, err := os.Create(partial)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(roundUp(size)); err != nil {
		return err
	}
	arguments := []string{"-q", partial}
	if size < smallestSupported {
		arguments = append([]string{"--unsupported"}, arguments...)
	}
	if _, err := run("mkfs.xfs", arguments...); err != nil {
		return err
	}
	return os.Rename(partial, image)
}

func ensureMounted(folder string) error {
	mounts.Lock()
	defer mounts.Unlock()
	mounter := mount.New("")
	if mounted, err := mounter.IsMountPoint(folder); err != nil || mounted {
		return err
	}
	return mounter.Mount(folder+".img", folder, "xfs", []string{"loop"})
}

func ensureUnmounted(folder string) error {
	mounts.Lock()
	defer mounts.Unlock()
	mounter := mount.New("")
	mounted, err := mounter.IsMountPoint(folder)
	if os.IsNotExist(err) || (err == nil && !mounted) {
		return nil
	}
	if err != nil {
		return err
	}
	return mounter.Unmount(folder)
}

func roundUp(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// run runs a command and returns what it printed; its error carries what the command said.
func run(program string, arguments ...string) (string, error) {
	output, err := exec.Command(program, arguments...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, strings.TrimSpace(string(output)))
	}
	return string(output), nil
}
