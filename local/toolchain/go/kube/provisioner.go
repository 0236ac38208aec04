package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	helpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
)

// resyncPeriod is how often every claim and volume is looked at again although nothing was heard of it: a
// volume that could not be unmounted, or lost its mount, is put right by then.
const resyncPeriod = 30 * time.Second

// provisioner makes volumes for claims, grows them when a claim asks for more, and removes them when their
// claim is gone.
type provisioner struct {
	name    string
	client  kubernetes.Interface
	store   volumeStore
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	events  record.EventRecorder
	queue   workqueue.TypedRateLimitingInterface[string]
}

// newProvisionerCommand is a dynamic volume provisioner for clusters whose nodes all run on this machine. The
// parameters of the StorageClass choose the kind of volume: none is a directory on the node that the
// scheduler chose, `sized: "true"` a filesystem there of exactly the size asked for, and `shared: "true"` a
// directory that every node sees.
func newProvisionerCommand() *cobra.Command {
	var kubeconfig, base, name string
	command := &cobra.Command{
		Use:          "local-provisioner",
		Short:        "Makes, grows and removes the volumes of a local cluster",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			if !filepath.IsAbs(base) {
				return fmt.Errorf("--base %q: an absolute path is needed", base)
			}
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			// By default a client holds itself to five calls a second: one cluster's volumes a second.
			config.QPS = -1
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return runProvisioner(ctx, client, name, volumeStore{base: filepath.Clean(base)})
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the file that says how to reach the cluster")
	command.Flags().StringVar(&base, "base", "", "the folder that holds the volumes; the nodes must see mounts that are made in it")
	command.Flags().StringVar(&name, "provisioner-name", "local/provisioner", "the name by which StorageClasses call this provisioner")
	return command
}

func runProvisioner(ctx context.Context, client kubernetes.Interface, name string, store volumeStore) error {
	factory := informers.NewSharedInformerFactory(client, resyncPeriod)
	core := factory.Core().V1()
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	p := &provisioner{
		name:    name,
		client:  client,
		store:   store,
		claims:  core.PersistentVolumeClaims().Lister(),
		volumes: core.PersistentVolumes().Lister(),
		classes: factory.Storage().V1().StorageClasses().Lister(),
		events:  broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: name}),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, resyncPeriod)),
	}
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"claim": core.PersistentVolumeClaims().Informer(), "volume": core.PersistentVolumes().Informer(),
	} {
		if _, err := informer.AddEventHandler(p.enqueue(kind)); err != nil {
			return err
		}
	}
	// A claim may be seen before its class is.
	if _, err := factory.Storage().V1().StorageClasses().Informer().AddEventHandler(
		cache.ResourceEventHandlerFuncs{AddFunc: func(any) { p.enqueueClaims() }}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	klog.InfoS("Provisioner started", "name", name, "base", store.base)
	for range 2 {
		go p.work(ctx)
	}
	<-ctx.Done()
	p.queue.ShutDown()
	return nil
}

func (p *provisioner) enqueue(kind string) cache.ResourceEventHandler {
	add := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			p.queue.Add(kind + ":" + key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
}

func (p *provisioner) enqueueClaims() {
	claims, err := p.claims.List(labels.Everything())
	if err != nil {
		return
	}
	for _, claim := range claims {
		p.queue.Add("claim:" + claim.Namespace + "/" + claim.Name)
	}
}

func (p *provisioner) work(ctx context.Context) {
	for {
		key, ended := p.queue.Get()
		if ended {
			return
		}
		if err := p.reconcile(ctx, key); err != nil {
			klog.ErrorS(err, "Reconcile failed", "key", key)
			p.queue.AddRateLimited(key)
		} else {
			p.queue.Forget(key)
		}
		p.queue.Done(key)
	}
}

func (p *provisioner) reconcile(ctx context.Context, key string) error {
	kind, name, _ := strings.Cut(key, ":")
	var err error
	if kind == "volume" {
		var volume *v1.PersistentVolume
		if volume, err = p.volumes.Get(name); err == nil {
			err = p.reconcileVolume(ctx, volume.DeepCopy())
		}
	} else {
		namespace, claimName, _ := strings.Cut(name, "/")
		var claim *v1.PersistentVolumeClaim
		if claim, err = p.claims.PersistentVolumeClaims(namespace).Get(claimName); err == nil {
			err = p.reconcileClaim(ctx, claim.DeepCopy())
		}
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// reconcileClaim makes a volume for a claim that waits for this provisioner, or grows the one that it has.
func (p *provisioner) reconcileClaim(ctx context.Context, claim *v1.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp != nil {
		return nil
	}
	if claim.Spec.VolumeName != "" {
		return p.expand(ctx, claim)
	}
	// The volume controller names a provisioner once it knows that no volume at hand will do, and, where the
	// class waits for the first consumer, once the scheduler has chosen a node.
	if claim.Annotations[helpers.AnnStorageProvisioner] != p.name {
		return nil
	}
	class, err := p.classes.Get(helpers.GetPersistentVolumeClaimClass(claim))
	if err != nil || class.Provisioner != p.name {
		return err
	}
	node := claim.Annotations[helpers.AnnSelectedNode]
	if node == "" && waitsForConsumer(class) {
		return nil
	}
	if err = p.provision(ctx, claim, class, node); err != nil {
		p.events.Eventf(claim, v1.EventTypeWarning, "ProvisioningFailed", "%v", err)
	}
	return err
}

func waitsForConsumer(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// provision makes the files of a volume and then the object; a run that was cut short between them is
// repeated with the same name.
func (p *provisioner) provision(ctx context.Context, claim *v1.PersistentVolumeClaim, class *storagev1.StorageClass, node string) error {
	if mode := claim.Spec.VolumeMode; mode != nil && *mode != v1.PersistentVolumeFilesystem {
		return fmt.Errorf("volumeMode %s is not supported: only %s is", *mode, v1.PersistentVolumeFilesystem)
	}
	if claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil {
		return errors.New("a claim with a data source is not supported")
	}
	kind, err := kindOf(class)
	if err != nil {
		return err
	}
	hostname := ""
	if kind != shared {
		if hostname, err = p.hostname(ctx, claim, node); err != nil || hostname == "" {
			return err
		}
	}
	size := claim.Spec.Resources.Requests[v1.ResourceStorage]
	name := "pvc-" + string(claim.UID)
	path, err := p.store.create(kind, hostname, name, size.Value())
	if err != nil {
		return err
	}
	volume := p.volumeFor(claim, class, name)
	volume.Annotations[kindAnnotation] = string(kind)
	if kind == shared {
		directory := v1.HostPathDirectory
		volume.Spec.HostPath = &v1.HostPathVolumeSource{Path: path, Type: &directory}
	} else {
		volume.Spec.Local = &v1.LocalVolumeSource{Path: path}
		volume.Spec.NodeAffinity = onlyOn(hostname)
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		p.events.Eventf(claim, v1.EventTypeNormal, "ProvisioningSucceeded", "Made volume %s", name)
	}
	return err
}

// hostname is the label by which volumes are pinned to the chosen node. When that node is gone, the choice is
// taken back, so that the scheduler makes another, and the name is empty.
func (p *provisioner) hostname(ctx context.Context, claim *v1.PersistentVolumeClaim, node string) (string, error) {
	if node == "" {
		return "", errors.New("a volume on a node needs a class with volumeBindingMode WaitForFirstConsumer")
	}
	found, err := p.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		delete(claim.Annotations, helpers.AnnSelectedNode)
		_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
		return "", err
	}
	if err != nil {
		return "", err
	}
	return found.Labels[v1.LabelHostname], nil
}

func (p *provisioner) volumeFor(claim *v1.PersistentVolumeClaim, class *storagev1.StorageClass, name string) *v1.PersistentVolume {
	reclaim := v1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	mode := v1.PersistentVolumeFilesystem
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{helpers.AnnDynamicallyProvisioned: p.name},
		},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      v1.ResourceList{v1.ResourceStorage: claim.Spec.Resources.Requests[v1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			StorageClassName:              class.Name,
			VolumeMode:                    &mode,
			PersistentVolumeReclaimPolicy: reclaim,
			ClaimRef: &v1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name,
				UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			},
		},
	}
}

func onlyOn(hostname string) *v1.VolumeNodeAffinity {
	onHost := v1.NodeSelectorRequirement{
		Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{hostname},
	}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{onHost}}},
	}}
}

// expand grows a bound claim's volume to what the claim asks for by now, in the order in which each step may
// be relied on: the files, the volume's capacity, the claim's capacity.
func (p *provisioner) expand(ctx context.Context, claim *v1.PersistentVolumeClaim) error {
	volume, err := p.volumes.Get(claim.Spec.VolumeName)
	if err != nil || volume.Annotations[helpers.AnnDynamicallyProvisioned] != p.name || claim.Status.Phase != v1.ClaimBound {
		return err
	}
	wanted := claim.Spec.Resources.Requests[v1.ResourceStorage]
	capacity := volume.Spec.Capacity[v1.ResourceStorage]
	if wanted.Cmp(capacity) > 0 {
		if err := p.store.grow(volume, wanted.Value()); err != nil {
			p.events.Eventf(claim, v1.EventTypeWarning, "VolumeResizeFailed", "%v", err)
			return err
		}
		volume = volume.DeepCopy()
		volume.Spec.Capacity[v1.ResourceStorage] = wanted
		if _, err := p.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return err
		}
		capacity = wanted
	}
	if shown := claim.Status.Capacity[v1.ResourceStorage]; shown.Cmp(capacity) >= 0 {
		return nil
	}
	claim.Status.Capacity = v1.ResourceList{v1.ResourceStorage: capacity}
	claim.Status.Conditions = slices.DeleteFunc(claim.Status.Conditions, func(c v1.PersistentVolumeClaimCondition) bool {
		return c.Type == v1.PersistentVolumeClaimResizing || c.Type == v1.PersistentVolumeClaimFileSystemResizePending
	})
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	if err == nil {
		p.events.Eventf(claim, v1.EventTypeNormal, "VolumeResizeSuccessful", "Grew volume %s to %s", volume.Name, capacity.String())
	}
	return err
}

// reconcileVolume removes a volume whose claim is gone, and mounts again what a restart of the machine unmounted.
func (p *provisioner) reconcileVolume(ctx context.Context, volume *v1.PersistentVolume) error {
	if volume.Annotations[helpers.AnnDynamicallyProvisioned] != p.name || volume.DeletionTimestamp != nil {
		return nil
	}
	if volume.Status.Phase != v1.VolumeReleased {
		return p.store.restore(volume)
	}
	if volume.Spec.PersistentVolumeReclaimPolicy != v1.PersistentVolumeReclaimDelete {
		return nil
	}
	if err := p.store.remove(volume); err != nil {
		p.events.Eventf(volume, v1.EventTypeWarning, "VolumeFailedDelete", "%v", err)
		return err
	}
	// Only this very object: its name is never used again, but what was read may be old.
	preconditions := metav1.Preconditions{UID: &volume.UID}
	return p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{Preconditions: &preconditions})
}
