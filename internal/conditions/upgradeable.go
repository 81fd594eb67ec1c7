// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"context"
	"fmt"

	apiv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/operator-framework/operator-lib/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AddToScheme adds the type OperatorCondition to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	if err := apiv2.AddToScheme(scheme); err != nil {
		return fmt.Errorf("add OperatorCondition to scheme: %w", err)
	}
	return nil
}

// EnvName is the environment variable in which OLM says the name of the OperatorCondition; operator-lib reads it.
const EnvName = "OPERATOR_CONDITION_NAME"

// Upgradeable is the condition of that name.
type Upgradeable struct {
	condition conditions.Condition // nil outside OLM
}

// New returns the condition Upgradeable. name is the value of EnvName: where it is empty, nobody asks, and setting
// the condition does nothing. The client must not be cached: a watch on OperatorConditions would need rights that
// OLM does not give, for one object that is written twice in the life of a process.
func New(uncached client.Client, name string) (*Upgradeable, error) {
	if name == "" {
		return &Upgradeable{}, nil
	}
	condition, err := conditions.InClusterFactory{Client: uncached}.NewCondition(apiv2.ConditionType(apiv2.Upgradeable))
	if err != nil {
		return nil, fmt.Errorf("find the OperatorCondition: %w", err)
	}
	return &Upgradeable{condition: condition}, nil
}

// Allow lets OLM upgrade the operator.
func (u *Upgradeable) Allow(ctx context.Context) error {
	return u.set(ctx, metav1.ConditionTrue, "Idle", "The operator may be upgraded")
}

// Block keeps OLM from upgrading the operator, and says why.
func (u *Upgradeable) Block(ctx context.Context, reason, message string) error {
	return u.set(ctx, metav1.ConditionFalse, reason, message)
}

func (u *Upgradeable) set(ctx context.Context, status metav1.ConditionStatus, reason, message string) error {
	if u.condition == nil {
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return u.condition.Set(ctx, status, conditions.WithReason(reason), conditions.WithMessage(message))
	})
	if err != nil {
		return fmt.Errorf("set condition Upgradeable: %w", err)
	}
	return nil
}
