//! What the account holds, as far as it was asked for: shared by the tree, the home page and the pages of databases.

import { signal } from '@preact/signals';

import { listContainers, listDatabases, listOffers, type Container, type Database, type Offer } from '../api/resources';

export interface Load<T> {
  value: T | null;
  error: unknown;
  isBusy: boolean;
}

const nothing = { value: null, error: null, isBusy: false };

export const databases = signal<Load<Database[]>>(nothing);
export const containers = signal<ReadonlyMap<string, Load<Container[]>>>(new Map());
export const offers = signal<Load<Offer[]>>(nothing);

const byName = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id, 'en', { numeric: true });

export async function loadDatabases(): Promise<void> {
  databases.value = { ...databases.value, isBusy: true };
  try {
    databases.value = { value: (await listDatabases()).sort(byName), error: null, isBusy: false };
  } catch (error) {
    databases.value = { ...databases.value, error, isBusy: false };
  }
}

function setContainers(database: string, load: Load<Container[]> | null): void {
  const next = new Map(containers.value);
  if (load) next.set(database, load);
  else next.delete(database);
  containers.value = next;
}

export async function loadContainers(database: string): Promise<void> {
  const before = containers.value.get(database) ?? nothing;
  setContainers(database, { ...before, isBusy: true });
  try {
    setContainers(database, { value: (await listContainers(database)).sort(byName), error: null, isBusy: false });
  } catch (error) {
    setContainers(database, { value: before.value, error, isBusy: false });
  }
}

/** Loads what is not there yet. */
export async function wantContainers(database: string): Promise<void> {
  const load = containers.value.get(database);
  if (!load || (!load.value && !load.isBusy && !load.error)) await loadContainers(database);
}

export async function loadOffers(): Promise<void> {
  try {
    offers.value = { value: await listOffers(), error: null, isBusy: false };
  } catch (error) {
    offers.value = { value: null, error, isBusy: false };
  }
}

/** Loads again whatever was loaded. */
export async function refresh(): Promise<void> {
  const known = [...containers.value.keys()];
  await loadDatabases();
  const there = new Set(databases.value.value?.map((one) => one.id));
  for (const database of known) {
    if (there.has(database)) await loadContainers(database);
    else setContainers(database, null);
  }
  if (offers.value.value) await loadOffers();
}

/** Forgets everything: another account, or another who asks. */
export function forget(): void {
  databases.value = nothing;
  containers.value = new Map();
  offers.value = nothing;
}

/** The throughput of one resource in words; null where it has none of its own. */
export function throughputOf(rid: string): string | null {
  const offer = offers.value.value?.find((one) => one.offerResourceId === rid);
  if (!offer) return null;
  const auto = offer.content.offerAutopilotSettings?.maxThroughput;
  return auto ? `up to ${auto.toLocaleString('en')} RU/s` : `${offer.content.offerThroughput.toLocaleString('en')} RU/s`;
}
