"""Writes a table of random values and what pandas makes of it, each as a CSV file, into the folder given."""

import sys

import numpy as np
import pandas as pd

folder, rng = sys.argv[1], np.random.default_rng(44)
n = 300
t = pd.DataFrame({
    "species": rng.choice(["Adelie", "Gentoo", "Chinstrap", "", "a, b"], n),
    "year": rng.integers(2007, 2010, n),
    "mass": rng.normal(4000, 500, n).round(1),
    "depth": rng.integers(10, 20, n).astype(float),
    "male": rng.choice([True, False], n),
})
t.loc[rng.choice(n, 40), "mass"] = np.nan
t.loc[rng.choice(n, 40), "depth"] = np.nan
t.to_csv(f"{folder}/table.csv", index=False)
t = pd.read_csv(f"{folder}/table.csv")

more = pd.DataFrame({
    "species": ["Gentoo", "Adelie", "Gentoo", "Emperor", np.nan],
    "depth": [10, 11, 12.5, 13, np.nan],
    "year": [1, 2, 3, 4, 5],
    "range": ["south", np.nan, "north", "ice", "none"],
})
more.to_csv(f"{folder}/more.csv", index=False)

results = {
    "join": t.merge(more, on="species"),
    "join-left": t.merge(more, on="species", how="left"),
    "join-two": t.merge(more.drop(columns="year"), on=["species", "depth"]),
    "join-number": t.merge(more[["depth", "range"]], on="depth", how="left"),
    "filter": t[(t.mass > 4000) & (t.species == "Gentoo")],
    "where": t[t.depth.isna()],
    "sort": t.sort_values(["species", "mass"], kind="stable"),
    "sort-descending": t.sort_values(["mass", "year"], ascending=[False, True], kind="stable"),
    "take": t.iloc[[7, 3, 3]],
    "tail": t.tail(4),
    "select": t[["mass", "species"]],
    "drop": t.drop(columns=["year", "male"]),
    "rename": t.rename(columns={"mass": "grams"}),
    "assign": t.assign(ratio=t.mass / t.depth),
    "dropna": t.dropna(),
    "dropna-one": t.dropna(subset=["mass"]),
    "fillna": t.assign(mass=t.mass.fillna(0)),
    "size": t.groupby("species").size().reset_index(name="count"),
    "size-two": t.groupby(["year", "species"]).size().reset_index(name="count"),
    "size-number": t.groupby("depth").size().reset_index(name="count"),
    "size-bool": t.groupby("male").size().reset_index(name="count"),
    "mean": t.groupby("species").mean(numeric_only=True).drop(columns="male").reset_index(),
    "std": t.groupby(["species", "male"])[["mass", "depth"]].std().reset_index(),
    "agg": t.groupby("year")["mass"].agg(["count", "max", "mean", "median", "min", "std", "sum"]).reset_index(),
}
for name, result in results.items():
    result.to_csv(f"{folder}/{name}.csv", index=False)
