package servecmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// The parts of the Kubernetes 1.34 schema that docs/fleet/kubernetes.yaml uses, with the names and types of k8s.io/api. A key that isn't
// here is misspelt, or has to be added from k8s.io/api.
type (
	kubeMeta struct {
		Name                string
		Labels, Annotations map[string]string
	}
	kubeSelector struct{ MatchLabels map[string]string }
	kubeProbe    struct {
		HTTPGet                                         struct{ Path, Port string }
		PeriodSeconds, TimeoutSeconds, FailureThreshold int
	}
	kubePort struct {
		Name          string
		ContainerPort int
	}
	kubeContainer struct {
		Name, Image string
		Args        []string
		Ports       []kubePort
		Lifecycle   struct {
			PreStop struct{ Sleep struct{ Seconds int } }
		}
		LivenessProbe  kubeProbe
		ReadinessProbe kubeProbe
		Resources      struct{ Requests, Limits map[string]string }

		SecurityContext struct {
			ReadOnlyRootFilesystem, AllowPrivilegeEscalation bool
			Capabilities                                     struct{ Drop []string }
		}
		VolumeMounts []struct {
			Name, MountPath string
			ReadOnly        bool
		}
	}
	kubePodSpec struct {
		ServiceAccountName            string
		TerminationGracePeriodSeconds int
		SecurityContext               struct {
			RunAsNonRoot       bool
			RunAsUser, FSGroup int
			SeccompProfile     struct{ Type string }
		}
		Containers []kubeContainer
		Volumes    []struct {
			Name     string
			EmptyDir *struct{ SizeLimit string }
			Secret   *struct{ SecretName string }
		}
	}
	kubeDeployment struct {
		APIVersion, Kind string
		Metadata         kubeMeta
		Spec             struct {
			Replicas int
			Selector kubeSelector
			Template struct {
				Metadata kubeMeta
				Spec     kubePodSpec
			}
		}
	}
	kubeAccount struct {
		APIVersion, Kind string
		Metadata         kubeMeta
	}
	kubeService struct {
		APIVersion, Kind string
		Metadata         kubeMeta
		Spec             struct {
			Selector map[string]string
			Ports    []struct {
				Name       string
				Port       int
				TargetPort string
			}
		}
	}
	kubeBudget struct {
		APIVersion, Kind string
		Metadata         kubeMeta
		Spec             struct {
			MaxUnavailable int
			Selector       kubeSelector
		}
	}
)

// TestDeployment_KubernetesTakesItsFile decodes each document strictly, and compares options, probes, ports and
// the termination grace period.
func TestDeployment_KubernetesTakesItsFile(t *testing.T) {
	var deployment kubeDeployment
	var service kubeService
	kinds := map[string]any{"apps/v1 Deployment": &deployment, "v1 Service": &service, "v1 ServiceAccount": new(kubeAccount), "policy/v1 PodDisruptionBudget": new(kubeBudget)}
	for _, v := range yamlOf(t, "kubernetes.yaml").AsValueSlice() {
		text := must.Get(ctyjson.Marshal(v, v.Type()))(t)
		kind := v.GetAttr("apiVersion").AsString() + " " + v.GetAttr("kind").AsString()
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if to := kinds[kind]; to == nil {
			t.Errorf("there is no %s, or there are two", kind)
		} else if err := strict.Decode(to); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		delete(kinds, kind)
	}
	pod := deployment.Spec.Template.Spec
	must.Len(t, kinds, 0)
	must.Len(t, pod.Containers, 1)
	container := pod.Containers[0]
	port := func(name string) bool {
		return slices.ContainsFunc(container.Ports, func(p kubePort) bool { return p.Name == name })
	}
	if !port(container.LivenessProbe.HTTPGet.Port) || !port(container.ReadinessProbe.HTTPGet.Port) || !port(service.Spec.Ports[0].TargetPort) {
		t.Errorf("no such port: %+v", container)
	}
	f, _ := frontOf(t)
	for _, probe := range []kubeProbe{container.LivenessProbe, container.ReadinessProbe} {
		f.ask(t, probe.HTTPGet.Path, http.StatusOK)
	}
	o := options{drain: defaultDrain}
	must.Len(t, must.Get(o.flags().Parse(container.Args))(t).Operands, 1)
	ending := time.Duration(container.Lifecycle.PreStop.Sleep.Seconds)*time.Second + o.drain + endTimeout
	if given := time.Duration(pod.TerminationGracePeriodSeconds) * time.Second; container.Lifecycle.PreStop.Sleep.Seconds == 0 || given < ending+signalLag {
		t.Errorf("a pod gets %v to end, and may need %v", given, ending)
	}
	if asked := time.Duration(container.ReadinessProbe.PeriodSeconds*container.ReadinessProbe.FailureThreshold) * time.Second; asked > o.drain {
		t.Errorf("that the server isn't ready is seen after %v, and it stops to listen after %v", asked, o.drain)
	}
}
