// Everything: expressions, systems, bodies, methods, runs, model files, contact problems.
#pragma once

#include "hinge/body.hpp"
#include "hinge/comparison.hpp"
#include "hinge/contact.hpp"
#include "hinge/convergence.hpp"
#include "hinge/error.hpp"
#include "hinge/expression.hpp"
#include "hinge/formulation.hpp"
#include "hinge/method.hpp"
#include "hinge/model.hpp"
#include "hinge/multibody.hpp"
#include "hinge/simulate.hpp"
#include "hinge/solve.hpp"
#include "hinge/system.hpp"
#include "hinge/tableau.hpp"
#include "hinge/unilateral.hpp"
#include "hinge/version.hpp"
