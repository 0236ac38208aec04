// The checks of the Operator Lifecycle Manager and of OperatorHub on the folder of a bundle. Prints every error and warning, one a line, and
// fails when there is an error.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Those of validation.AllValidators that ask no registry and are not deprecated; OperatorHubV2Validator has the one of removed APIs in it.
var validators = interfaces.Validators{
	validation.ClusterServiceVersionValidator,
	validation.CustomResourceDefinitionValidator,
	validation.BundleValidator,
	validation.OperatorHubV2Validator,
	validation.StandardCategoriesValidator,
	validation.StandardCapabilitiesValidator,
	validation.ObjectValidator,
	validation.GoodPracticesValidator,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "operator-verify: name the folder of a bundle")
		os.Exit(2)
	}
	bundle, err := load(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, warning := range result.Warnings {
			fmt.Println(warning.Error())
		}
		for _, err := range result.Errors {
			fmt.Println(err.Error())
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// manifests.GetBundleFromDir reads each file twice with one decoder, which the apimachinery of newer Kubernetes does not do.
// Unlike it, this refuses fields that the types do not have.
func load(folder string) (*manifests.Bundle, error) {
	files, err := filepath.Glob(filepath.Join(folder, "manifests", "*.yaml"))
	if err != nil {
		return nil, err
	}
	bundle := &manifests.Bundle{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		bundle.Size += int64(len(content))
		if err := add(bundle, content); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	if bundle.CSV == nil {
		return nil, fmt.Errorf("%s has no ClusterServiceVersion", folder)
	}
	bundle.Name = bundle.CSV.Name
	// No more than this, whatever gzip makes of it.
	bundle.CompressedSize = bundle.Size
	return bundle, annotations(bundle, filepath.Join(folder, "metadata", "annotations.yaml"))
}

func add(bundle *manifests.Bundle, content []byte) error {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		return err
	}
	bundle.Objects = append(bundle.Objects, object)
	switch object.GetKind() {
	case "ClusterServiceVersion":
		bundle.CSV = &v1alpha1.ClusterServiceVersion{}
		return yaml.UnmarshalStrict(content, bundle.CSV)
	case "CustomResourceDefinition":
		crd := &apiextensionsv1.CustomResourceDefinition{}
		bundle.V1CRDs = append(bundle.V1CRDs, crd)
		return yaml.UnmarshalStrict(content, crd)
	}
	return nil
}

func annotations(bundle *manifests.Bundle, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	read := manifests.AnnotationsFile{}
	if err := yaml.Unmarshal(content, &read); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	bundle.Package = read.Annotations.PackageName
	bundle.DefaultChannel = read.Annotations.DefaultChannelName
	bundle.Channels = []string{read.Annotations.Channels}
	return nil
}
