/**
 * What members say, as far as it can be true. It goes into the status, whose schema bounds it: one text that is too long would have
 * every status refused, and every pass fail for as long as one member says it. Pure.
 */
import { printable } from '../api/values/printable.ts';
import type { MemberList, MemberStatus } from './answers.ts';
import { EtcdError } from './port.ts';

/** Longer than any release of anybody's. */
const VERSION = /^[\w.+~-]{0,64}$/;
/** Of names of hosts, and of URLs with them. */
const LONGEST_NAME = 253;
const LONGEST_URL = 2_048;
/** etcd's documentation recommends seven at most. */
const MOST_MEMBERS = 100;
/** etcd says one for each alarm, and one that it knows no leader. */
const MOST_ERRORS = 16;
const LONGEST_ERROR = 200;

/** @throws EtcdError `other` */
export function plausibleVersion(version: string): string {
  if (VERSION.test(version)) return version;
  throw implausible('an invalid version');
}

/**
 * The status, with its errors cut to what is read of them.
 * @throws EtcdError `other`
 */
export function plausibleStatus(status: MemberStatus): MemberStatus {
  plausibleVersion(status.version);
  if (![status.dbSize, status.dbSizeInUse].every(isSize)) throw implausible('an invalid size');
  const errors = status.errors.slice(0, MOST_ERRORS).map(error => printable(error.slice(0, LONGEST_ERROR)));
  return { ...status, errors };
}

/** @throws EtcdError `other` */
export function plausibleList(list: MemberList): MemberList {
  if (list.members.length > MOST_MEMBERS) throw implausible(`more than ${MOST_MEMBERS} members`);
  for (const { name, peerUrls } of list.members) {
    const isShort = name.length <= LONGEST_NAME && peerUrls.every(url => url.length <= LONGEST_URL);
    if (!isShort) throw implausible('a member with an invalid name or address');
  }
  return list;
}

function isSize(bytes: number): boolean {
  return Number.isSafeInteger(bytes) && bytes >= 0;
}

function implausible(what: string): EtcdError {
  return new EtcdError('other', `the member reports ${what}: it is not an etcd, or a faulty one`);
}
