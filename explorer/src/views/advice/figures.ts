//! How figures of advice are written.

import type { Comparison } from '../../api/advice';
import { ru } from '../../ui';

/** How often something is done in a second. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.01) return perSecond.toPrecision(2);
  return perSecond < 100 ? perSecond.toFixed(2) : perSecond.toFixed(0);
}

/** A number of requests, which may be an average. */
export function requests(n: number): string {
  return Number.isInteger(n) ? String(n) : n.toFixed(1);
}

/** Below this nothing was saved that could be measured. */
const NOTHING = 0.005;

export function saved({ savedPerSecond: saving, measured }: Comparison): string {
  const how = measured ? 'measured on a copy of the sample' : 'computed from what requests were charged';
  if (Math.abs(saving) < NOTHING) return `No RU/s less, ${how}`;
  return `${ru(Math.abs(saving))} RU/s ${saving > 0 ? 'less' : 'more'}, ${how}`;
}

/** How sure a finding is, in words. */
export function sureness(confidence: number): string {
  if (confidence >= 0.9) return 'almost certain';
  if (confidence >= 0.7) return 'likely';
  if (confidence >= 0.5) return 'as likely as not';
  return 'a guess';
}
