/*
 * zk_fd.h - find out which of the process's sockets belongs to a handle.
 *
 * libzookeeper_mt does not tell the descriptor it uses, yet breaking that one
 * connection is the only quick way to make it leave a dead server.  So it is
 * searched for among the process's own descriptors: a TCP socket whose peer is
 * the server that the handle says it is connected to.  If that is one socket,
 * it is the right one, since the handle's is among them.  If there are several
 * (another client, or a socket of the program's own), they are told apart by
 * watching which of them carries the handle's requests: one that had nothing
 * acknowledged between the sending of a request and its reply is not ours.
 * Sockets that stay in doubt are never touched.
 *
 * Threads: none of these calls may overlap another on the same object.
 */
#ifndef KU_ZK_FD_H
#define KU_ZK_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* With more sockets to one server than this, none is picked. */
#define KU_ZK_FD_MAX 32

struct ku_zk_fd {
	struct sockaddr_storage peer;
	bool asking; /* between begin() and end() */
	int count;   /* candidates left; 0: not known */
	struct ku_zk_fd_candidate {
		int fd;
		uint64_t cookie; /* the kernel's name for the socket, used once */
		uint64_t acked; /* bytes that the peer's kernel had, at begin() */
	} candidates[KU_ZK_FD_MAX];
};

/* Forget everything: there is no connection, or another one. */
void ku_zk_fd_reset(struct ku_zk_fd *f);

/* Collect the sockets connected to "peer". */
void ku_zk_fd_scan(struct ku_zk_fd *f, const struct sockaddr *peer);

/* To be called before a request is sent.  Returns whether there is a doubt and
   this request may settle it: then end() must be called when the server's
   reply came, or give_up() if none will. */
bool ku_zk_fd_begin(struct ku_zk_fd *f);
void ku_zk_fd_end(struct ku_zk_fd *f);
void ku_zk_fd_give_up(struct ku_zk_fd *f);

/* Break the connection, if it is certain which one it is.  Returns whether it
   was broken.  Looks again for sockets connected to the peer if none is
   left. */
bool ku_zk_fd_shutdown(struct ku_zk_fd *f);

/* Return whether any socket of the process is connected to "peer"; true, too,
   if that cannot be told. */
bool ku_zk_fd_connected(const struct sockaddr *peer);

#endif
