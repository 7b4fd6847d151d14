"""Measuring orders of convergence: errors in norms, local and fitted orders, results of studies."""
