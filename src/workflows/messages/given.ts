/** Messages that were written as an EtcdRequest: updates of the names that people use, with the uid of the object. */
import { defineQuery } from '@temporalio/workflow';
import type { Given, GivenRequest } from '../../api/values/requests.ts';
import { isText } from './text.ts';

/** Longer than any uid of Kubernetes (RFC 4122: 36 characters). */
const LONGEST_UID = 64;
/** The last moment that a date can hold (ECMA-262, time values). */
const LATEST = 8.64e15;

/** What a message says of the EtcdRequest that it was written as; undefined: it says nothing of the kind. */
export function givenFrom(sent: unknown): Given | undefined {
  const { request } = (sent ?? {}) as { readonly request?: Partial<Record<keyof Given, unknown>> | null };
  const { uid, expiresAt } = request ?? {};
  if (!isText(uid) || uid.length > LONGEST_UID || typeof expiresAt !== 'number') return undefined;
  return Math.abs(expiresAt) <= LATEST ? { uid, expiresAt } : undefined;
}

/** What became of the EtcdRequest with this uid; null: none of this uid has come, or it was long ago. */
export const requestQuery = defineQuery<GivenRequest | null, [unknown]>('request');
