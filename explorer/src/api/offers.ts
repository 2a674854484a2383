//! The throughput of a container, or of the database whose throughput it shares.

import { ask, segment, type Answer } from './client';
import { keyPaths } from './keys';
import { databasePath, listOffers, readContainer, type Database, type Offer } from './resources';

export type Kind = 'manual' | 'autoscale';

export interface Wanted {
  kind: Kind;
  /** Of autoscale, the most. */
  value: number;
}

export interface ThroughputState extends Wanted {
  owner: 'container' | 'database';
  /** What is provisioned now: of autoscale, what this hour was busy enough for. */
  now: number;
  /** The least that throughput of this kind may be set to. */
  minimum: number;
  /** The most that was ever provisioned, and stored. */
  highestEver: number;
  storedKb: number;
  /** Whether partitions are still being made for it. */
  isPending: boolean;
  /** Whether the container has one partition for ever, for want of a partition key. */
  isFixed: boolean;
  offer: Offer;
}

interface Past {
  maxThroughputEverProvisioned?: number;
  maxConsumedStorageEverInKB?: number;
}

export async function readThroughput(database: string, container: string, signal?: AbortSignal): Promise<ThroughputState> {
  const [answer, offers, parent] = await Promise.all([
    readContainer(database, container, signal),
    listOffers(signal),
    ask({ path: databasePath(database), signal }),
  ]);
  const isFixed = keyPaths(answer.container).length === 0;
  const of = (rid: string) => offers.find((offer) => offer.offerResourceId === rid);
  const own = of(answer.container._rid);
  const offer = own ?? of(parent.json<Database>()._rid);
  if (!offer) throw new Error('Neither the container nor its database has throughput that this page could show.');
  return state(await ask({ path: offerPath(offer), signal }), own ? 'container' : 'database', isFixed);
}

/**
 * Changes throughput. Another kind takes a request of its own, after which the server says how much there is; where that is
 * not what was wanted, a second one follows.
 */
export async function changeThroughput(from: ThroughputState, wanted: Wanted): Promise<ThroughputState> {
  let current = from;
  if (wanted.kind !== current.kind) {
    const header =
      wanted.kind === 'autoscale' ? 'x-ms-cosmos-migrate-offer-to-autopilot' : 'x-ms-cosmos-migrate-offer-to-manual-throughput';
    current = await put(current, current.offer.content, { [header]: 'true' });
  }
  if (wanted.value === current.value) return current;
  const { offerAutopilotSettings: settings, ...content } = current.offer.content;
  return wanted.kind === 'manual'
    ? put(current, { ...content, offerThroughput: wanted.value })
    : put(current, { ...content, offerAutopilotSettings: { ...settings, maxThroughput: wanted.value } });
}

async function put(
  current: ThroughputState,
  content: Offer['content'],
  headers: Record<string, string> = {},
): Promise<ThroughputState> {
  const answer = await ask({
    method: 'PUT',
    path: offerPath(current.offer),
    body: { ...current.offer, content },
    headers: { ...headers, 'if-match': current.offer._etag },
  });
  return state(answer, current.owner, current.isFixed);
}

function offerPath(offer: Offer): string {
  return `/offers/${segment(offer._rid)}`;
}

function state(answer: Answer, owner: ThroughputState['owner'], isFixed: boolean): ThroughputState {
  const offer = answer.json<Offer>();
  const most = offer.content.offerAutopilotSettings?.maxThroughput;
  const past: Past = offer.content.offerMinimumThroughputParameters ?? {};
  const now = offer.content.offerThroughput;
  return {
    owner,
    kind: most === undefined ? 'manual' : 'autoscale',
    value: most ?? now,
    now,
    minimum: Number(answer.headers.get('x-ms-cosmos-min-throughput') ?? 0),
    highestEver: past.maxThroughputEverProvisioned ?? now,
    storedKb: past.maxConsumedStorageEverInKB ?? 0,
    isPending: answer.headers.get('x-ms-offer-replace-pending') === 'true',
    isFixed,
    offer,
  };
}
