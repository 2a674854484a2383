//! Requests that wait until a test lets them go.

import type { Page } from '@playwright/test';

export interface Refusal {
  status: number;
  json: { code: string; message: string };
}

/** Holds requests to an address until what is returned is called: then the server gets them, or they are refused. */
export async function hold(page: Page, method: string, address: string): Promise<(refusal?: Refusal) => void> {
  let isHeld = true;
  let resolve = (_?: Refusal): void => undefined;
  const released = new Promise<Refusal | undefined>((one) => (resolve = one));
  await page.route(address, async (route) => {
    if (!isHeld || route.request().method() !== method) return route.fallback();
    const refusal = await released;
    // One that was given up meanwhile goes nowhere.
    await (refusal ? route.fulfill(refusal) : route.continue()).catch(() => undefined);
  });
  return (refusal) => {
    isHeld = false;
    resolve(refusal);
  };
}
