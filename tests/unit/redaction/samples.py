"""Lines that hold secrets, in the spellings of many vendors, and lines that only look as if they did.

In SECRETS each part between ⟦ and ⟧ is a secret: it has to go, and everything else has to stay.
"""

from __future__ import annotations

SECRETS = r"""
enable secret 5 ⟦$1$mERr$hx5rVt7rPNoS4wqbXKX7m0⟧
enable secret 9 ⟦$9$nhEmQVczB7dqsO$X.HsgL6x1il0RxkOSSvyQYwucySCt7qFm4v7pqCxkKM⟧
enable secret level 5 0 ⟦Str0ng-One⟧
enable password ⟦cisco⟧
enable password 7 ⟦0822455D0A16⟧
R1(config)#enable password ⟦cisco⟧
 password 7 ⟦02050D480809⟧
 password ⟦letmein⟧
username admin privilege 15 secret 8 ⟦$8$dsYGNam3K1SIJO$7nv/35M/qr6t.dVc7UY9zrJDWRVqncHub1PE9UlMQFs⟧
username admin password 0 ⟦admin123⟧
username admin privilege 15 password 7 ⟦094F471A1A0A⟧
username "joe" secret 0 ⟦p@ss;w0rd⟧
+username bob secret ⟦hunter2⟧
snmp-server community ⟦public⟧ RO
snmp-server community "⟦our lab⟧" rw 10
snmp-server community 0 ⟦public⟧ group network-operator
snmp-server host 10.0.0.5 version 2c ⟦traps-here⟧ udp-port 162
snmp-server host 10.0.0.5 ⟦traps-here⟧
snmp-server host 10.0.0.5 traps version 2c ⟦traps-here⟧
snmp-server user joe ops v3 auth md5 ⟦authpass⟧ priv aes 128 ⟦privpass⟧
snmp-server user admin network-admin auth md5 ⟦0x8b44d0f6c5e0⟧ localizedkey
crypto isakmp key ⟦VeryShared1⟧ address 10.1.1.2
crypto isakmp key 6 ⟦JgHFbNXQAAFWIG⟧ hostname peer
 pre-shared-key local ⟦one⟧
 pre-shared-key address 10.1.1.1 key ⟦VeryShared1⟧
 ikev1 pre-shared-key ⟦tunnelkey⟧
 ikev2 remote-authentication pre-shared-key ⟦tunnelkey⟧
radius-server host 10.0.0.9 auth-port 1812 acct-port 1813 key 7 ⟦045802150C2E⟧
radius-server key ⟦radkey⟧
tacacs-server host 10.0.0.9 key ⟦tackey⟧
tacacs-server key 7 ⟦1234ABCD⟧
 server-private 10.0.0.9 key ⟦tackey⟧
 key 7 ⟦045802150C2E⟧
 key ⟦PlainRadius⟧
 neighbor 10.0.0.2 password ⟦bgp-pass⟧
 neighbor 10.0.0.2 password 7 ⟦00071A150754⟧
 neighbor PEERS password 7 ⟦AQ==xx⟧
 ip ospf authentication-key ⟦ospfkey⟧
 ip ospf authentication-key 7 ⟦060506324F41⟧
 ip ospf message-digest-key 1 md5 ⟦ospfkey⟧
 ip ospf message-digest-key 1 md5 7 ⟦060506324F41⟧
 ip ospf message-digest-key 10 sha256 7 ⟦060506324F41⟧
 area 1 virtual-link 2.2.2.2 message-digest-key 1 md5 ⟦ospfkey⟧
 area 1 virtual-link 2.2.2.2 authentication-key ⟦ospfkey⟧
 isis password ⟦isiskey⟧ level-1
 isis password md5 ⟦isiskey⟧
 area-password ⟦isiskey⟧
 domain-password clear ⟦isiskey⟧
  key-string ⟦eigrpkey⟧
  key-string 7 ⟦070C285F4D06⟧
 authentication mode hmac-sha-256 ⟦eigrpkey⟧
 ip rip authentication string ⟦ripkey⟧
 standby 1 authentication ⟦hsrpkey⟧
 standby 1 authentication text ⟦hsrpkey⟧
 standby 1 authentication md5 key-string 7 ⟦070C285F4D06⟧
 vrrp 1 authentication text ⟦vrrpkey⟧
 glbp 1 authentication text ⟦glbpkey⟧
 ip nhrp authentication ⟦nhrpkey⟧
 ppp chap password 0 ⟦chapkey⟧
 ppp pap sent-username joe password 7 ⟦070C285F4D06⟧
ntp authentication-key 1 md5 ⟦ntpkey⟧
ntp authentication-key 1 md5 ⟦070C285F4D06⟧ 7
vtp password ⟦vtpkey⟧
mpls ldp neighbor 2.2.2.2 password ⟦ldpkey⟧
ip ftp password 7 ⟦070C285F4D06⟧
 wpa-psk ascii 0 ⟦wifi-key-1⟧
 security wpa akm psk set-key ascii 0 ⟦wifi-key-1⟧
passwd ⟦2KFQnbNIdI.2KYOU⟧ encrypted
enable password ⟦8Ry2YjIyt7RRXU24⟧ encrypted
username admin password ⟦f3UhLvUj1QsXsuK7⟧ encrypted privilege 15
failover key ⟦fokey⟧
username admin password 5 ⟦$5$Nfsdg$wGJ1mkJ0TWVJn1xlXyQ9⟧  role network-admin
username admin role network-admin secret sha512 ⟦$6$h7gBDhJXUFIkVJVB$Hp1vXWZ1b9xwSIDkL⟧
enable password sha512 ⟦$6$abc$defghijklmnopqr⟧
   secret 10 ⟦$6$KYPQ2/MVj3eH8...$u8H⟧
 password encrypted ⟦10480D1C1D⟧
  key-string password ⟦10480D1C1D⟧
password ⟦zebra⟧
    key 1 -- text "⟦shown-key⟧"
        encrypted-password "⟦$6$kwLg9yiy$Pmq8b4bZ⟧"; ## SECRET-DATA
set system root-authentication encrypted-password "⟦$1$yPy2XVyO$tLqIyCoM07Jm0L1PX.3zh.⟧"
set system root-authentication plain-text-password-value "⟦Juniper1⟧"
            authentication-key "⟦$9$dYs2aZUi.PT⟧"; ## SECRET-DATA
set protocols bgp group ext authentication-key "⟦$9$9M5AtuBREyeWx⟧"
set protocols ospf area 0 interface ge-0/0/0 authentication md5 1 key "⟦$9$6ddYAp01REhcl⟧"
set snmp community ⟦public⟧ authorization read-only
    community ⟦public⟧ {
    community "⟦lab ro⟧" {
set security ike policy p pre-shared-key ascii-text "⟦$9$9M5AtuBREyeWx⟧"
set system radius-server 10.0.0.9 secret "⟦$9$9M5AtuBREyeWx⟧"
 set authentication password cipher ⟦%^%#z4|7(pG0XV!2<oR{%^%#⟧
 local-user admin password irreversible-cipher ⟦$1a$5Gk:QW0B$dXyz012$⟧
 local-user admin password simple ⟦Huawei@123⟧
local-user admin password cipher ⟦%@%@abcd1234%@%@⟧
super password level 3 cipher ⟦OOCM4m($F4ajUn1vMEIBNUw#⟧
 snmp-agent community read cipher ⟦%^%#abcd1234%^%#⟧
snmp-agent community read ⟦public⟧
snmp-agent community write cipher ⟦Private1⟧ mib-view all
 ospf authentication-mode md5 1 cipher ⟦%^%#abcd1234%^%#⟧
 ospf authentication-mode simple plain ⟦ospfkey⟧
 ospf authentication-mode hmac-sha256 1 plain ⟦ospfkey⟧
 peer 10.0.0.2 password cipher ⟦bgpkey⟧
 isis authentication-mode md5 cipher ⟦isiskey⟧
 vrrp vrid 1 authentication-mode md5 ⟦vrrpkey⟧
 rip authentication-mode md5 usual ⟦ripkey⟧
 pre-shared-key cipher ⟦ikekey⟧
 radius-server shared-key cipher ⟦radkey⟧
 hwtacacs-server shared-key ⟦tackey⟧
 key authentication cipher ⟦$c$3$abcdef⟧
 key authentication simple ⟦radkey⟧
 snmp-agent usm-user v3 joe ops cipher authentication-mode md5 ⟦HASHHASH⟧ privacy-mode aes128 ⟦PRIVHASH⟧
 password hash ⟦$h$6$abcdefgh$ijklmnop⟧
/ppp secret add name=joe password=⟦secret1⟧ profile=default
/user add name=joe group=full password="⟦two words⟧"
/interface wireless security-profiles set default wpa2-pre-shared-key=⟦wifikey123⟧
/ip ipsec identity add peer=p1 secret=⟦ipseckey⟧
/routing ospf interface-template add auth-key=⟦ospfkey⟧ area=backbone
/routing bgp connection add tcp-md5-key=⟦bgpkey⟧ name=p1
/interface wireguard add private-key="⟦yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=⟧" name=wg1
/snmp community add name=⟦lab-ro⟧ addresses=10.0.0.0/8
root:⟦$6$rounds=5000$saltsalt$hashhashhashhash⟧:19000:0:99999:7:::
root:⟦$y$j9T$abcdefgh$ijklmnopqrstuvwxyz⟧:19000:0:99999:7:::
joe:⟦abJnggxhB/yWI⟧:10063:0:99999:7:::
DB_PASSWORD=⟦s3cr3t!⟧
export OPENAI_API_KEY="⟦sk-proj-abcdefghijklmnop1234⟧"
api_key: ⟦sk-ant-REDACTED⟧
 "password": "⟦hunter2⟧",
Authorization: Bearer ⟦abcdefghijklmnop⟧
token=⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl⟧
the token is ⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl⟧.
curl http://joe:⟦pa55⟧@10.0.0.1/x
aws_secret_access_key = ⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧
aws_access_key_id = ⟦AKIAIOSFODNN7EXAMPLE⟧
PrivateKey = ⟦yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=⟧
PresharedKey = ⟦FpCyhws9cxwWoV4xELtfJvjJN+zQVRPISllRWgeopVE=⟧
	psk="⟦wifi key⟧"
10.0.0.1 %any : PSK "⟦ipsec key⟧"
set system login user joe authentication plaintext-password ⟦vyos-pw⟧
set system login user joe authentication encrypted-password '⟦$6$rounds=656000$abc$defghijkl⟧'
set protocols ospf interface eth0 authentication md5 key-id 1 md5-key '⟦ospfkey⟧'
set vpn ipsec authentication psk peer1 secret '⟦ipsec key⟧'
set interfaces wireguard wg0 private-key '⟦yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=⟧'
snmp-server host inside 10.1.1.1 community ⟦asa-comm⟧ version 2c
snmp-server host inside 10.1.1.1 trap community 8 ⟦asa-comm⟧
configure snmp add community readonly encrypted "⟦rykfcb⟧"
configure snmpv3 add community ⟦exos-ro⟧ name x user v1v2c_ro
configure account admin encrypted "⟦qijxou⟧"
create account user joe encrypted "⟦qijxou⟧"
 ipv6 ospf authentication ipsec spi 256 md5 ⟦27576134094768132473302031209727⟧
 ospfv3 encryption ipsec spi 256 esp null md5 ⟦0123456789abcdef0123456789abcdef⟧
   key-octet-string 7 ⟦075e731f1a5c4f524f⟧ cryptographic-algorithm AES_128_CMAC
  etr map-server 10.0.0.9 key ⟦lispkey⟧
enable algorithm-type scrypt secret ⟦plainsecret⟧
 ntp-service authentication-keyid 1 authentication-mode md5 cipher ⟦ntpkey⟧
/radius add address=10.0.0.9 secret=⟦radkey⟧ service=login
rocommunity ⟦public⟧ 10.0.0.0/8
Community name: ⟦public⟧
Login password: ⟦cisco⟧
""".strip("\n").split("\n")

#: Lines that a redactor easily spoils, and that the copilot needs as they are.
SURVIVORS = r"""
service password-encryption
no service password-encryption
% Password required, but none set
%SEC_LOGIN-4-LOGIN_FAILED: Login failed [user: joe] [Source: 10.0.0.5] [Reason: Login Authentication Failed]
Password:
Enter password:
% Bad passwords
enable secret
Password recovery is disabled
Simple password authentication enabled
  Message digest authentication enabled
    Youngest key id is 1
Key chain EIGRP-KEYS:
key chain EIGRP-KEYS
 key 1
  accept-lifetime 00:00:00 Jan 1 2024 infinite
 ip authentication mode eigrp 1 md5
 ip authentication key-chain eigrp 1 EIGRP-KEYS
  authentication key-chain EIGRP-KEYS
  authentication mode md5
 ip ospf authentication message-digest
 area 0 authentication message-digest
 standby 1 authentication md5 key-chain HSRP
ip community-list standard CUST permit 65000:100
ip community-list expanded CUST permit 65000:.*
 set community 65000:100 additive
 match community CUST
 neighbor 10.0.0.2 send-community both
 neighbor 10.0.0.2 remote-as 65002
      Community: 65000:100 no-export
    community CUST members 65000:100;
            community add CUST;
        from community CUST;
        then { community set CUST; accept; }
set policy-options community CUST members 65000:100
bgp community new-format
crypto key generate rsa modulus 2048
crypto isakmp policy 10
ip ssh version 2
ip ssh server algorithm encryption aes256-ctr
ssh server cipher aes256_ctr aes128_ctr
aaa authentication login default group tacacs+ local
aaa new-model
tacacs server ISE
 address ipv4 10.0.0.9
radius-server host 10.0.0.9 auth-port 1812 acct-port 1813
 authentication-mode aaa
 authentication-mode password
snmp-server location Lab 3
snmp-server contact noc@example.com
snmp-server enable traps snmp authentication linkdown linkup
snmp-server community-map x
snmp-agent sys-info version v3
 tunnel key 100
 tunnel source 10.0.0.1
ntp authenticate
ntp trusted-key 1
ntp server 10.0.0.1 key 1
interface GigabitEthernet0/0
 description to R2, password in the safe
 ip address 10.0.12.1 255.255.255.252
 ip ospf 1 area 0
router ospf 1
router bgp 65001
 neighbor 2001:db8::2 activate
O IA     10.2.0.0/16 [110/20] via 10.0.12.2, 00:01:02, GigabitEthernet0/0
10.0.12.2       1   FULL/DR         00:00:33    10.0.12.2       GigabitEthernet0/0
Total number of prefixes 5
ip route 0.0.0.0 0.0.0.0 10.0.12.2
vlan 10
 switchport trunk allowed vlan 10,20
spanning-tree mode rapid-pvst
snmp-server host 10.0.0.5 version 3 priv joe
neighbor 10.0.0.2 ebgp-multihop 2
set vpn ipsec authentication psk peer1 id 10.0.0.1
Processor board ID FTX0945W0MY with 0123456789abcdef0123456789abcdef
 ip ospf authentication key-chain OSPF-KEYS
access-list 10 permit 10.0.0.0 0.0.0.255
ip nat inside source list 10 interface GigabitEthernet0/1 overload
ip dhcp pool LAN
root:x:0:0:root:/root:/bin/bash
daemon:*:19000:0:99999:7:::
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 admin@lab
Cisco IOS Software, 7200 Software (C7200-ADVENTERPRISEK9-M), Version 15.2(4)M
Last configuration change at 12:30:00 UTC Mon Jan 1 2024 by admin
The password is stored in the vault.
/ip address add address=10.0.0.1/24 interface=ether1
/routing ospf interface-template add area=backbone auth=md5 auth-id=1
set service ssh port 22
http://10.0.0.1:8080/index.html
ping 10.0.0.1 source Loopback0
Secret: none
% Password:  timeout expired!
This is my secret ********
enable secret <secret hidden>
username joe nopassword
username joe privilege 15
-----BEGIN CERTIFICATE-----
""".strip("\n").split("\n")
